"""The version of this package, for everyone in the house."""

VERSION = "0.1.0"
