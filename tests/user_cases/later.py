# fmt: off
"""Cases, or parts of cases, that wait for a feature: number -> what for.

A case that is tested may have a row for its rest.
"""

LATER = {
    "U047": "rest: one rank's compile failure reaching the others waits for collectives",
    "U059": "collectives: process group `neuron` at 2 to 16 ranks",
    "U061": "collectives: object collectives",
    "U062": "collectives: what Gloo alone says of a neuron tensor",
    "U064": "DTensor: its random number tracker",
    "U070": "collectives: repeatable sums across world sizes",
    "U071": "FSDP2: weights used outside their module's forward",
    "U083": "rest: from_pretrained(device_map=...) waits for Transformers",
    "U091": "rest: TorchAO configurations and fp8 matmul wait for TorchAO and FP8",
    "U094": "torch.profiler: device events",
    "U096": "torch.profiler: attribution of backward",
    "U097": "torch.profiler: supported activities and schedules",
    "U121": "kernels as PyTorch ops: nki_op in eager and compiled models",
    "U125": "rest: completions with logprobs wait for vLLM",
    "U127": "vLLM: prompt and output lengths at the limit",
    "U130": "rest: sampling parameters of requests wait for vLLM",
    "U132": "vLLM: a job per supported version",
    "U135": "published wheels: installation next to torch alone",
}
