"""What each stage reads and writes, one module a stage, so that changing one contract reruns one stage.

Standard library only: the compiler imports these modules to write what the stages read.
"""
