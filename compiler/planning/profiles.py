"""How each kind of device lowers a model to mindformers fields.

What mindformers 1.9.0 with MindSpore 2.9.0 has on each: on CPU by running it, on GPU from the kernels that the package ships,
on Ascend from the configurations that mindformers ships.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from compiler.mindformers import JitLevel, PrecisionMode, Target, WrapperType


@dataclass(frozen=True)
class DeviceProfile:
    """The kernels and modes of one kind of device.

    target: MindSpore's device_target. flash_attention, fused_rms_norm: fused kernels. rope_slice: rotary embedding by slices,
    since the batched product it otherwise uses cannot broadcast. sink_mode: rows go to the device ahead of the graph, where
    nothing of ours has to see them. wrapper: the training cell of one device. numpy_sampling: generated tokens are chosen on
    the host; there is no kernel for the greedy choice either, which is then sampling among one. paged_cache: keys and values
    are kept between tokens (`use_past`). precision_mode, jit_level: of the context; None is not written. mcore: whether the
    Megatron-like graphs run. semi_auto: whether layers can be divided (tensor, pipeline, context, optimizer); otherwise ranks
    only share the batch. memory_limit: whether MindSpore bounds the memory it takes.
    """

    target: Target
    flash_attention: bool
    fused_rms_norm: bool
    rope_slice: bool
    sink_mode: bool
    wrapper: WrapperType
    numpy_sampling: bool
    paged_cache: bool = False
    precision_mode: PrecisionMode | None = None
    jit_level: JitLevel | None = None
    mcore: bool = False
    semi_auto: bool = True
    memory_limit: bool = True


PROFILES: Mapping[str, DeviceProfile] = MappingProxyType(
    {
        "cpu": DeviceProfile(
            target="CPU",
            flash_attention=False,
            fused_rms_norm=False,
            rope_slice=True,
            sink_mode=False,
            wrapper="CpuTrainOneStepCell",
            numpy_sampling=True,
            semi_auto=False,
            memory_limit=False,
        ),
        "gpu": DeviceProfile(
            target="GPU",
            flash_attention=False,
            fused_rms_norm=False,
            rope_slice=True,
            sink_mode=False,
            wrapper="MFTrainOneStepCell",
            numpy_sampling=True,
        ),
        "ascend": DeviceProfile(
            target="Ascend",
            flash_attention=True,
            fused_rms_norm=True,
            rope_slice=False,
            sink_mode=True,
            wrapper="MFTrainOneStepCell",
            numpy_sampling=False,
            paged_cache=True,
            precision_mode="must_keep_origin_dtype",
            jit_level="O0",
            mcore=True,
        ),
    }
)
