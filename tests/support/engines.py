"""The arms that tests compare with the engines of course_lib.engines."""

LIBRARY_ARMS = ("cobot6", "planar2", "planar3", "panda")
TOOLBOX_ARMS = ("Puma560", "UR5", "Panda", "IRB140", "Stanford", "KR5", "Cobra600", "LWR4")
