"""What the ledger says of a CPU, and what a real training there takes."""

import pytest

from benchmarks.memory.configurations import CONFIGURATIONS
from benchmarks.memory.measure import activations, train

BY_NAME = {one.name: one for one in CONFIGURATIONS}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three groups, odd sizes", "long rows"])
def test_the_peak_of_a_real_training_is_predicted_within_a_quarter(name: str) -> None:
    one = BY_NAME[name]
    assert activations(one) > 500e6
    assert one.ledger().peak == pytest.approx(train(one), rel=0.25)
