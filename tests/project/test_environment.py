"""The environment can be built: by make with whatever Python there is, by conda, in a container.

Nothing here needs a network: where packages would be installed, a stub stands in for Python.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib

import pytest
import yaml

from scripts import ROOT, script

OPTIONS = ["--configfile", "config/presets/tiny.yaml", "--cores", "1"]
OPTIONS += ["--workflow-profile", "workflow/profiles/default"]
# What environment.sh and a stub call, besides Python. No git: an unpacked archive has none.
TOOLS = ("awk", "bash", "cat", "chmod", "cksum", "cp", "dirname", "grep", "mkdir", "rm", "sh")
# The path of the environment may have a blank.
QUOTED = shlex.quote(sys.executable)
# A Python that says which calls it got. It makes virtual environments of copies of itself and
# installs nothing; every other call goes to the real one.
STUB = """#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
"-m venv --clear "*)
    rm -rf "$4"; mkdir -p "$4/bin"; cp "$0" "$4/bin/python"
    printf '#!/bin/sh\\necho "uv $*" >>"$CALLS"\\nexit "${UV_FAILS:-0}"\\n' >"$4/bin/uv"
    chmod +x "$4/bin/uv"
    ;;
*" config list") echo "global.index-url='https://packages.test/simple'" ;;
"-m pip "*) ;;
"-c import lightgbm") [ -z "$NO_LIBGOMP" ] || { echo "libgomp.so.1: no such file" >&2; exit 1; } ;;
*) exec PYTHON "$@" ;;
esac
""".replace("PYTHON", QUOTED)


class Machine:
    """A copy of the project without .git, and a PATH with nothing but the tools and stubs."""

    def __init__(self, folder):
        self.project = folder / "project"
        self.bin = folder / "bin"
        self.log = folder / "calls"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        (self.project / "workflow").mkdir(parents=True)
        for name in ("requirements.lock", "requirements-tools.lock", "pyproject.toml"):
            shutil.copy(ROOT / name, self.project)
        for name in ("environment.sh", "uv_settings.py"):
            shutil.copy(ROOT / "workflow" / name, self.project / "workflow")
        (folder / "home").mkdir()
        self.environment = {"PATH": str(self.bin), "HOME": str(folder / "home")}
        self.environment["CALLS"] = str(self.log)
        # A broken script must not go on to install packages.
        self.environment |= {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}

    def add(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def build(self, **environment):
        """Run environment.sh; returns exit code, standard error and the calls of the stubs."""
        self.log.write_text("")
        process = subprocess.run(
            [str(self.bin / "bash"), str(self.project / "workflow" / "environment.sh")],
            env={**self.environment, **environment},
            cwd=self.bin,
            text=True,
            capture_output=True,
        )
        return process.returncode, process.stderr, self.log.read_text()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def python_without(module, folder):
    """A wrapper of this Python that lacks a module of the standard library."""
    (folder / module).mkdir()
    (folder / module / f"{module}.py").write_text(f"raise ModuleNotFoundError('{module}')\n")
    return f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(folder / module))} exec {QUOTED} "$@"\n'


def python_of(version):
    """A Python that takes itself for another version when it is asked."""
    code = f"import sys; sys.version_info = {version}; exec(sys.argv[1])"
    return f"#!/bin/sh\nexec {QUOTED} -c '{code}' \"$2\"\n"


# What python3 is, the variables that are set, and the line that is printed.
UNFIT = [
    (None, {}, "no Python 3.11 to 3.13 found"),
    # A shim without a version behind it, and versions that are too old or too new.
    ("#!/bin/sh\necho command not found >&2\nexit 127\n", {}, "no Python 3.11 to 3.13 found"),
    (python_of((3, 10, 13)), {}, "no Python 3.11 to 3.13 found"),
    (python_of((3, 14, 0)), {}, "no Python 3.11 to 3.13 found"),
    (python_of((3, 10, 13)), {"PYTHON": "python3"}, "PYTHON=python3 is not a Python"),
    *((lacked, {}, "python3 .*apt install python3.*-venv") for lacked in ("ensurepip", "venv")),
    ("venv", {"PYTHON": "python3"}, "python3 .*apt install python3.*-venv"),
]


@pytest.mark.parametrize(("python3", "environment", "message"), UNFIT)
def test_where_no_python_fits_one_line_says_so(machine, tmp_path, python3, environment, message):
    if python3:
        is_module = python3 in ("ensurepip", "venv")
        machine.add("python3", python_without(python3, tmp_path) if is_module else python3)
    code, errors, _ = machine.build(**environment)
    assert (code, len(errors.splitlines())) == (1, 1)
    assert re.match(message, errors)
    assert not (machine.project / ".venv").exists()


def test_names_that_do_not_run_or_cannot_make_environments_are_passed_over(machine, tmp_path):
    machine.add("python3.11", "#!/bin/sh\nexit 127\n")
    machine.add("python3.12", python_without("ensurepip", tmp_path))
    machine.add("python3.13", STUB)
    assert machine.build()[:2] == (0, "")


@pytest.mark.parametrize("installer", ["uv", "pip", "auto"])
def test_an_archive_without_git_is_built_once(machine, installer):
    machine.add("python3", STUB)
    assert machine.build(INSTALLER=installer)[:2] == (0, "")
    calls = machine.log.read_text().splitlines()
    installed = [call for call in calls if " -r requirements.lock" in call]
    assert len(installed) == 1
    assert installed[0].startswith("-m pip" if installer == "pip" else "uv pip install")
    assert "--require-hashes" in installed[0]
    # pip leaves byte code of what it installs by itself, and uv if it is asked.
    assert installer == "pip" or "--compile-bytecode" in installed[0]
    assert any(call.endswith("--editable .") for call in calls)
    # A second call does nothing but look for Python; a changed lock makes it anew.
    _, _, second_calls = machine.build(INSTALLER=installer)
    assert "-m venv" not in second_calls and "install" not in second_calls
    with (machine.project / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    assert "-m venv" in machine.build(INSTALLER=installer)[2]


def test_pip_goes_on_where_uv_does_not_get_the_packages(machine):
    machine.add("python3", STUB)
    code, errors, _ = machine.build(UV_FAILS="1", INSTALLER="uv")
    assert code == 1 and "run again with INSTALLER=pip" in errors
    code, _, calls = machine.build(UV_FAILS="1")
    assert code == 0 and re.search(r"^-m pip .*--require-hashes -r requirements.lock$", calls, re.M)


def test_a_missing_libgomp_is_one_line_and_no_finished_environment(machine):
    machine.add("python3", STUB)
    code, errors, _ = machine.build(NO_LIBGOMP="1")
    assert (code, errors.count("\n")) == (1, 1) and "apt install libgomp1" in errors
    assert machine.build()[0] == 0, "built anew once it is there"


@pytest.mark.parametrize("content", ["thesis.tex", ".ssh/key", "pyvenv.cfg", "a link"])
def test_a_folder_that_holds_something_else_is_left_as_it_is(machine, tmp_path, content):
    """A folder that VENV names by mistake, an environment of the user's own, and what a link hides.

    One that Python's venv has just made is made anew.
    """
    machine.add("python3", STUB)
    folder = machine.project / ".venv"
    if content == "a link":
        (tmp_path / "other").mkdir()
        folder.symlink_to(tmp_path / "other")
    packages = folder / "lib/python3.11/site-packages"
    (packages / "torch-2.dist-info").mkdir(parents=True)
    kept = folder / ("tools.lock" if content == "a link" else content)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("mine")
    code, errors, calls = machine.build()
    assert (code, errors.count("\n"), kept.read_text()) == (1, 1, "mine")
    assert "by VENV=FOLDER" in errors and "-m venv" not in calls
    if content == "pyvenv.cfg":
        (packages / "torch-2.dist-info").rename(packages / "pip-23.2.1.dist-info")
        assert machine.build()[:2] == (0, "")


def test_uv_asks_the_index_that_pip_asks():
    settings = script("workflow/uv_settings.py").uv_settings
    assert settings(
        [
            ":env:.index-url='https://b.test/simple'\n",
            "global.index-url='https://a.test/simple'\n",
            "global.extra-index-url='https://c.test/simple\\nhttps://d.test/simple'\n",
            "install.find-links='wheels more'\n",
            "global.no-index='false'\n",
            "freeze.timeout='10'\n",
        ]
    ) == {
        "UV_DEFAULT_INDEX": "https://b.test/simple",
        "UV_INDEX": "https://c.test/simple https://d.test/simple",
        "UV_FIND_LINKS": "wheels,more",
        "UV_OFFLINE": "false",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_environment_for_conda_is_in_step_with_the_lock():
    text = (ROOT / "environment.yml").read_text()
    environment = yaml.safe_load(text)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = re.search(r"--python-version (\S+)", (ROOT / "Makefile").read_text())[1]
    assert f"python={python}" in environment["dependencies"]
    assert project["requires-python"] == f">={python}"
    (pip,) = [d["pip"] for d in environment["dependencies"] if isinstance(d, dict)]
    # Snakemake copies the file to another folder: no path in it, and no option of pip.
    assert all(re.match(r"[a-z0-9-]+==[^ /]+( ;.*)?$", pin) for pin in pip)
    lock = (ROOT / "requirements.lock").read_text()
    made = script("workflow/make_environment_yml.py").environment(lock, python)
    assert text == made and len(pip) == len(re.findall(r"^\S+==", lock, re.M)), "run make lock"


def run_in(environment, project, *command):
    """Run a command in the project with an environment first in PATH, and no PYTHONPATH."""
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    variables["PATH"] = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = [str(environment / "bin" / "python"), *command]
    return subprocess.run(command, cwd=project, env=variables, text=True, capture_output=True)


@pytest.mark.long
def test_jobs_find_the_package_where_it_is_not_installed(tmp_path):
    """In an environment with all packages of this one, but without splitcredit."""
    bare, project = tmp_path / "bare", tmp_path / "with space {and braces}"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    # Folders in a .pth file are not searched for .pth files, such as that of an editable install.
    (packages,) = bare.glob("lib/python*/site-packages")
    # Behind a link, as Python reads .pth files in the encoding of the locale.
    (packages / "packages").symlink_to(sysconfig.get_path("purelib"))
    (packages / "packages.pth").write_text("packages\n")
    for name in ("workflow", "config"):
        shutil.copytree(ROOT / name, project / name)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, project)
    (project / "src").symlink_to(ROOT / "src")
    bare_import = run_in(bare, project, "-c", "import snakemake, splitcredit")
    assert "No module named 'splitcredit'" in bare_import.stderr
    # The job goes elsewhere first; and an unset variable still ends a job, as by default.
    (project / "probe.smk").write_text(
        'include: "Snakefile"\n'
        "rule probe:\n"
        "    output: 'probe.txt'\n"
        "    shell: 'out=$PWD/{output}; cd /;"
        ' python -c "import splitcredit; print(splitcredit.__file__)" >"$out"\'\n'
        "rule unset:\n"
        "    output: 'unset.txt'\n"
        "    shell: 'echo $nothing >{output}'\n"
    )
    command = ("-m", "snakemake", "probe", "unset", "-s", "probe.smk", *OPTIONS)
    process = run_in(bare, project, *command)
    assert (project / "probe.txt").exists(), process.stderr
    package_file = (project / "probe.txt").read_text().strip()
    assert package_file == str(project / "src" / "splitcredit" / "__init__.py")
    assert process.returncode == 1 and "nothing: unbound variable" in process.stderr
    assert not (project / "unset.txt").exists()
