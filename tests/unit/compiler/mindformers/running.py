"""mindformers itself on a compiled file, as its notice says: `python running.py FILE [TEXT]`, in an experiment folder."""

import sys

from mindformers import MindFormerConfig, Trainer, build_context

if __name__ == "__main__":
    config = MindFormerConfig(sys.argv[1])
    build_context(config)
    trainer = Trainer(config)
    if config.run_mode == "eval":
        trainer.evaluate(eval_checkpoint=config.load_checkpoint)
    else:
        print("ANSWER", trainer.predict(predict_checkpoint=config.load_checkpoint, input_data=sys.argv[2:]))
