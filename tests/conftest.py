"""Options of suites below; pytest reads them only here, at the root of the tests."""


def pytest_addoption(parser):
    group = parser.getgroup("conformance", "PyTorch's op database on a device")
    group.addoption("--device", default="neuron", help="device under test (default: neuron)")
    group.addoption(
        "--samples",
        type=int,
        default=3,
        help="samples of each op and dtype, from the first; 0: all (default: 3)",
    )
    group.addoption("--dtypes", default="", help="comma list; default: those of CI; 'all'")
    group.addoption("--shard", default="1/1", help="i/n: every n-th case, starting with the i-th")
    group.addoption("--op", default="", help="only ops whose name contains this")
    group = parser.getgroup("fuzz", "random HLO modules against XLA")
    group.addoption("--modules", type=int, default=40, help="how many modules (default: 40)")
    group.addoption("--first-module", type=int, default=0, help="seed of the first (default: 0)")
