"""Parameter counts by formula against the published ones of every size in specs/model."""

from pathlib import Path

import pytest
import yaml

from compiler.families import CELLS, FAMILIES
from compiler.planning.architecture import Architecture, architecture
from compiler.spec import Spec
from compiler.spec.model import Model
from compiler.spec.tokenizer import Tokenizer

GROUP = Path(__file__).parents[4] / "specs/model"
PUBLISHED = {
    "llama2-7b": 6_738_415_616,
    "llama2-13b": 13_015_864_320,
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3.1-8b": 8_030_261_248,
    "llama3.1-70b": 70_553_706_496,
    "llama3.2-1b": 1_235_814_400,
    "llama3.2-3b": 3_212_749_824,
    "qwen2-0.5b": 494_032_768,
    "qwen2-1.5b": 1_543_714_304,
    "qwen2-7b": 7_615_616_512,
    "qwen2-72b": 72_706_203_648,
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-1.5b": 1_543_714_304,
    "qwen2.5-3b": 3_085_938_688,
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-14b": 14_770_033_664,
    "qwen2.5-32b": 32_763_876_352,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-0.6b": 596_049_920,
    "qwen3-1.7b": 1_720_574_976,
    "qwen3-4b": 4_022_468_096,
    "qwen3-8b": 8_190_735_360,
    "qwen3-14b": 14_768_307_200,
    "qwen3-32b": 32_762_123_264,
}
SMALL = {"llama-tiny", "qwen2-tiny", "qwen3-tiny"}


def of_group(name: str) -> Architecture:
    """The network of a file of specs/model, with 4,000 pieces where it names no vocabulary."""
    model = Model.model_validate(yaml.safe_load((GROUP / f"{name}.yaml").read_text("utf-8")))
    return architecture(Spec.model_construct(model=model, tokenizer=Tokenizer(vocab_size=4000)))


def test_every_size_has_its_published_count() -> None:
    assert {path.stem for path in GROUP.glob("*.yaml")} == PUBLISHED.keys() | SMALL


@pytest.mark.parametrize("name", PUBLISHED)
def test_count_is_the_published_one(name: str) -> None:
    assert of_group(name).parameters == PUBLISHED[name]
    assert f"{PUBLISHED[name]:,} parameters" in (GROUP / f"{name}.yaml").read_text("utf-8")


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_small_size_keeps_what_distinguishes_its_family(name: str) -> None:
    small = of_group(name)
    family = FAMILIES[name.removesuffix("-tiny")]
    assert (small.qkv_bias, small.qk_norm) == (family.qkv_bias, family.qk_norm)
    assert (small.num_heads * small.head_dim != small.hidden_size) == family.own_head_dim
    assert small.parameters < 3_000_000


def test_an_adapter_of_rank_8_on_all_layers_of_a_7b() -> None:
    """32 layers x 8 x (4 x (4096 + 4096) + 3 x (4096 + 11008)) values."""
    assert of_group("llama2-7b").adapter_parameters(8, CELLS) == 32 * 8 * (4 * 8192 + 3 * 15104)
