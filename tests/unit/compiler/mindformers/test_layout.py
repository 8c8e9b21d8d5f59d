"""What a layout becomes in a mindformers file, and that it is nothing that mindformers would reset."""

from dataclasses import replace
from typing import Any

import pytest

from compiler import mindformers as mf
from compiler.lower.training import finetune_config, pretrain_config
from tests.unit.compiler.mindformers.plans import Case, cases, made

ASCEND = {"device.target": "ascend"}
TWO = {"device.count": 2, "parallel.data": 2}
FOUR = {"device.count": 4}


def files() -> list[tuple[Case, mf.TrainingConfig]]:
    return [(case, file) for case in cases() for file in case.training.values()]


def test_one_device_is_not_parallel() -> None:
    config = pretrain_config(made(ASCEND))
    assert not config.use_parallel
    assert config.parallel is None
    assert config.parallel_config == mf.ParallelConfig()


def test_ranks_of_a_cpu_share_the_batch_and_average_their_gradients() -> None:
    config = pretrain_config(made(TWO))
    assert config.use_parallel
    assert config.parallel == mf.Parallel(parallel_mode=0, gradients_mean=True)
    assert config.parallel_config == mf.ParallelConfig(), "mindformers resets degrees in this mode"


def test_degrees_of_a_divided_network() -> None:
    layout = {"parallel.data": 2, "parallel.tensor": 2, "parallel.pipeline": 2, "parallel.micro_batches": 8, "device.count": 8}
    config = finetune_config(made(ASCEND, layout))
    assert config.parallel == mf.Parallel(
        parallel_mode=1,
        gradients_mean=False,
        dataset_strategy=((2, 1), (2, 1)),
        strategy_ckpt_config=mf.StrategyFile(),
    )
    assert config.parallel_config == mf.ParallelConfig(
        data_parallel=2,
        model_parallel=2,
        pipeline_stage=2,
        context_parallel=1,
        micro_batch_num=8,
        use_seq_parallel=True,
        vocab_emb_dp=False,
    )
    assert (config.runner_wrapper.type, config.runner_wrapper.micro_batch_num) == ("MFPipelineWithLossScaleCell", 8)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_levels_of_optimizer_sharding(level: int) -> None:
    config = pretrain_config(made(ASCEND, FOUR, {"parallel.data": 4, "parallel.optimizer_sharding": level}))
    assert config.parallel is not None
    assert config.parallel.enable_parallel_optimizer
    assert config.parallel.parallel_optimizer_config == mf.ParallelOptimizer(optimizer_level=f"level{level}")  # type: ignore[arg-type]
    assert isinstance(config.model, mf.Model)
    assert config.model.model_config.parallel_optimizer, "the table of embeddings stays whole otherwise"


def test_accumulation_is_by_mindformers_where_it_takes_it_and_by_our_cell_elsewhere() -> None:
    accumulated = {"pretrain.accumulation": 4, "pretrain.micro_batch": 8}
    ours = pretrain_config(made(accumulated))
    assert (ours.runner_config.gradient_accumulation_steps, ours.runner_config.batch_size) == (1, 32)
    assert (ours.runner_wrapper.type, ours.runner_wrapper.accumulation) == ("CpuTrainOneStepCell", 4)
    theirs = pretrain_config(made(ASCEND, FOUR, {"parallel.data": 4}, accumulated))
    assert (theirs.runner_config.gradient_accumulation_steps, theirs.runner_config.batch_size) == (4, 8)
    assert (theirs.runner_wrapper.type, theirs.runner_wrapper.micro_batch_num) == ("MFPipelineWithLossScaleCell", 4)
    for config in (ours, theirs):
        assert isinstance(config.model, mf.Model)
        assert config.model.model_config.batch_size == 8


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("none", mf.Recompute(recompute=False)),
        ("selective", mf.Recompute(recompute=False, select_recompute=True)),
        ("full", mf.Recompute(recompute=True)),
    ],
)
def test_recomputation(kind: str, expected: mf.Recompute) -> None:
    assert pretrain_config(made(ASCEND, {"parallel.recompute": kind})).recompute_config == expected


def test_a_vocabulary_that_does_not_divide_stays_whole_without_a_pipeline() -> None:
    whole = pretrain_config(made(ASCEND, FOUR, {"parallel.tensor": 4, "model.vocab_size": 4002}))
    divided = pretrain_config(made(ASCEND, FOUR, {"parallel.tensor": 4, "model.vocab_size": 4004}))
    assert (whole.parallel_config.vocab_emb_dp, divided.parallel_config.vocab_emb_dp) == (True, False)


def test_a_base_is_named_by_its_folder_on_several_devices() -> None:
    one, several, copies = finetune_config(made(ASCEND)), finetune_config(made(ASCEND, TWO)), finetune_config(made(TWO))
    assert (one.load_checkpoint, one.auto_trans_ckpt) == ("base/model.safetensors", False)
    assert (several.load_checkpoint, several.auto_trans_ckpt) == ("base", True)
    assert (copies.load_checkpoint, copies.auto_trans_ckpt) == ("base", False)


def test_nothing_is_written_that_mindformers_would_reset() -> None:
    for case, file in files():
        semi_auto = file.parallel is not None and file.parallel.parallel_mode == 1
        degrees, steps = file.parallel_config, file.runner_config.gradient_accumulation_steps
        assert semi_auto or degrees == mf.ParallelConfig(), case.name
        assert steps == 1 or (semi_auto and degrees.pipeline_stage == 1), case.name
        assert degrees.micro_batch_num == 1 or degrees.pipeline_stage > 1, case.name
        assert degrees.pipeline_stage == 1 or not degrees.vocab_emb_dp, case.name
        divided = semi_auto and (degrees.pipeline_stage > 1 or steps > 1)
        assert (file.runner_wrapper.type == "MFPipelineWithLossScaleCell") == divided, case.name
        assert not (semi_auto and file.runner_wrapper.accumulation), case.name


def test_the_strategy_has_as_many_parts_as_the_data_has_columns() -> None:
    strategies = [(file.parallel.dataset_strategy, file) for _, file in files() if file.parallel and file.parallel.parallel_mode == 1]
    assert strategies
    for strategy, file in strategies:
        assert strategy == ((file.parallel_config.data_parallel, 1),) * len(file.train_dataset.input_columns)


def test_fields_of_a_device_are_those_of_its_profile() -> None:
    for case, file in files():
        ascend, cpu = file.context.device_target == "Ascend", file.context.device_target == "CPU"
        assert (file.context.ascend_config is not None) == (file.context.jit_config is not None) == ascend, case.name
        assert file.context.max_device_memory is None, case.name
        assert not file.runner_config.sink_mode, "callbacks see no batch in it"
        assert (file.runner_wrapper.type == "CpuTrainOneStepCell") == cpu, case.name
        if isinstance(file.model, mf.Model):
            model = file.model.model_config
            assert (model.use_flash_attention, model.fused_rms_norm, model.use_rope_slice) == (ascend, ascend, not ascend), case.name


SEMI_AUTO = mf.Parallel(parallel_mode=1, gradients_mean=False, dataset_strategy=((4, 1),))


@pytest.mark.parametrize(
    ("contradiction", "changes"),
    [
        ("use_parallel goes with", {"use_parallel": True}),
        ("degrees other than 1 are reset", {"parallel_config": mf.ParallelConfig(data_parallel=2)}),
        (
            "gradient_accumulation_steps is reset",
            {"runner_config": mf.Runner(epochs=1, batch_size=1, sink_mode=False, gradient_accumulation_steps=2)},
        ),
        ("auto_trans_ckpt needs", {"auto_trans_ckpt": True}),
        ("use_legacy goes with", {"use_legacy": False}),
        ("runner_wrapper.type is reset", {"runner_wrapper": mf.Wrapper(type="MFPipelineWithLossScaleCell", max_grad_norm=1.0)}),
    ],
)
def test_a_contradiction_on_one_device_cannot_be_made(contradiction: str, changes: dict[str, Any]) -> None:
    with pytest.raises(mf.UndeclaredValue, match=contradiction):
        replace(pretrain_config(made(ASCEND)), **changes)


@pytest.mark.parametrize(
    ("contradiction", "changes"),
    [
        ("micro_batch_num is reset", {"parallel_config": mf.ParallelConfig(data_parallel=4, micro_batch_num=2)}),
        ("vocab_emb_dp is reset", {"parallel_config": mf.ParallelConfig(data_parallel=2, pipeline_stage=2, micro_batch_num=2)}),
        ("dataset_strategy has one part", {"parallel": replace(SEMI_AUTO, dataset_strategy=((4, 1), (4, 1)))}),
        ("dataset_strategy has one part", {"parallel": replace(SEMI_AUTO, dataset_strategy=None)}),
    ],
)
def test_a_contradiction_on_several_devices_cannot_be_made(contradiction: str, changes: dict[str, Any]) -> None:
    with pytest.raises(mf.UndeclaredValue, match=contradiction):
        replace(pretrain_config(made(ASCEND, FOUR, {"parallel.data": 4})), **changes)
