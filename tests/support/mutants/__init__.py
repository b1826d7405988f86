"""Would a test notice if a line were wrong?  `python3 course.py test --mutants PACKAGE`

One operator, constant, condition or statement of the code is changed at a time, in memory only,
and the module's own tests run on the changed code. A change that no test notices is a survivor:
either a test is missing, or the change changes nothing: mutants.toml then says why.

Ready-made tools (cosmic-ray, mutmut) write into the tree, start Python anew for every change,
and bring a dozen packages; what is needed here is `ast`, `os.fork` and pytest.

changes   which changes there are: `Change`, `changes_of`, `drawn`
running   one forked child for each change: `Place`, `outcomes`
__main__  the command
"""

from support.mutants.changes import Change, changes_of, drawn
from support.mutants.running import Place, outcomes

__all__ = ["Change", "Place", "changes_of", "drawn", "outcomes"]
