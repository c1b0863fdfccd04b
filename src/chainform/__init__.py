"""chainform: equations of motion in symbolic form, as data, and fast.

import chainform as cf

mechanism = cf.read("arm.toml")
model = cf.derive(mechanism, outputs=["mass_matrix", "gravity"])
print(model["mass_matrix"][0, 0].expand())
model.evaluate(q=[0.1, 0.2, 0.3])["mass_matrix"]
"""

from chainform.errors import Error
from chainform.mechanism import Mechanism
from chainform.model import Model, open_store
from chainform.pipeline import derive
from chainform.readers import read

__version__ = "0.1.0"

__all__ = ["Error", "Mechanism", "Model", "derive", "open_store", "read"]
