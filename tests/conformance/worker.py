"""One process of a report: reads a case per line, writes its result as a line of JSON.

A case may crash or hang; the parent sees which one was running and starts another worker.
"""

import dataclasses
import json
import os
import sys


def main() -> None:
    # What ops print must not end up between the results.
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import torch
    from conformance import cases, engine

    torch.set_num_threads(1)
    device, limit = sys.argv[1], int(sys.argv[2]) or None
    out.write("ready\n")
    for line in sys.stdin:
        result = engine.run(cases.Case.parse(line.strip()), device, limit)
        out.write(json.dumps(dataclasses.asdict(result)) + "\n")


if __name__ == "__main__":
    main()
