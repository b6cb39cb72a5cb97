"""What the indexer of each Android release does with AppFunctions files.

A model of AppSearch's apps indexer: AOSP's packages/modules/AppSearch on branches 15-qpr2 to 17, as reference
appfunctions 1.2, 2.f and 3.2 describe it. Nothing here raises for bad files: the report says what
Android drops, and why.
"""
