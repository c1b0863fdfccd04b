"""Events within a step: sampling, zeros, grazing, the first of them."""
