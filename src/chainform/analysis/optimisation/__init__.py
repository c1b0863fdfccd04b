"""Values of parameters for which a study has the results that are wanted."""
