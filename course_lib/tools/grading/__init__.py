"""What is a class's homework worth?  `python3 course.py homework list | release | grade`.

`command` is what the instructor types; in `marking` the judge asks, the learner's process answers,
the judge decides; `learner_process` and `learner_child` are that process from outside and inside;
`feedback` is what a student gets back; `gradebook` writes nbgrader's.
"""
