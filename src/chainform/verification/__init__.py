"""Whether a model, a mechanism or a motion is right: laws, other formulations, other programs."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.verification.certificate import TASK, Certificate, Check
    from chainform.verification.formulations import check_formulations
    from chainform.verification.laws import check_laws
    from chainform.verification.motion import check_motion
    from chainform.verification.peers import check_peers
    from chainform.verification.verification import (
        DEFAULT,
        KINDS,
        OF_MODEL,
        OF_MOTION,
        STATES,
        Observer,
        VerificationInterrupted,
        certificates,
        save_certificate,
        verify,
    )

__all__ = [
    "DEFAULT",
    "KINDS",
    "OF_MODEL",
    "OF_MOTION",
    "STATES",
    "TASK",
    "Certificate",
    "Check",
    "Observer",
    "VerificationInterrupted",
    "certificates",
    "check_formulations",
    "check_laws",
    "check_motion",
    "check_peers",
    "save_certificate",
    "verify",
]

lazy.door(__name__)
