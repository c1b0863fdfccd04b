"""Random mechanisms at every path of the product, compared with a reference of their own.

generate, features, motions, tasks
                            from a seed to a mechanism, a state and a motion: plain tables
chainform.verification.reference
                            the answer, without any of the product's code
answers, differences        its answers to what tasks found
paths                       the product's answers: one function and one line of the table each
compare                     which answers are held against each other, and how closely
shrink                      a smaller case with the same disagreement
report                      scripts and counts
crew, command               cases in processes of their own, arguments
"""
