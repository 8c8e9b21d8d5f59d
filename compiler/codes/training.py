"""Pre-training and fine-tuning."""

from compiler.codes.code import Code

CODES = {
    "MS0341": Code("warm-up is longer than training"),
    "MS0342": Code("learning rate is not positive"),
    "MS0343": Code("final rate above the peak"),
    "MS0344": Code("learning rate far out of range"),
    "MS0345": Code("fewer than two checkpoints kept"),
    "MS0346": Code("no checkpoint before the end"),
    "MS0347": Code("fine-tuning method is not built"),
    "MS0348": Code("unknown LoRA target"),
    "MS0349": Code("adapters are not described"),
    "MS0351": Code("LoRA rank exceeds the layer"),
    "MS0391": Code("number that float32 cannot hold"),
}
