"""The environment can be built: by make with whatever Python there is, by conda, in a container.

Nothing here needs a network: where packages would be installed, a stub stands in for Python.
"""

import importlib.metadata
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
import yaml

from scripts import script

ROOT = Path(__file__).resolve().parents[2]
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


@pytest.mark.parametrize("module", ["ensurepip", "venv"])
@pytest.mark.parametrize("named", [False, True])
def test_where_virtual_environments_cannot_be_made_one_line_names_the_package(
    machine, tmp_path, module, named
):
    machine.add("python3", python_without(module, tmp_path))
    code, errors, _ = machine.build(**({"PYTHON": "python3"} if named else {}))
    assert code == 1
    assert len(errors.splitlines()) == 1
    version = "{}.{}".format(*sys.version_info)
    assert f"apt install python{version}-venv" in errors
    assert errors.startswith("python3 ")
    assert not (machine.project / ".venv").exists()


@pytest.mark.parametrize(
    ("python3", "environment", "message"),
    [
        (None, {}, "no Python 3.11 to 3.13 found"),
        # A shim without a version behind it, and versions that are too old or too new.
        ("echo command not found >&2; exit 127", {}, "no Python 3.11 to 3.13 found"),
        ("sys.version_info = (3, 10, 13)", {}, "no Python 3.11 to 3.13 found"),
        ("sys.version_info = (3, 14, 0)", {}, "no Python 3.11 to 3.13 found"),
        ("sys.version_info = (3, 10, 13)", {"PYTHON": "python3"}, "PYTHON=python3 is not a Python"),
    ],
)
def test_where_no_python_fits_one_line_says_so(machine, python3, environment, message):
    if python3 and python3.startswith("sys."):
        exec_first = f"import sys; {python3}; exec(sys.argv[1])"
        python3 = f"exec {QUOTED} -c '{exec_first}' \"$2\""
    if python3:
        machine.add("python3", f"#!/bin/sh\n{python3}\n")
    code, errors, _ = machine.build(**environment)
    assert code == 1
    assert len(errors.splitlines()) == 1
    assert errors.startswith(message)


def test_names_that_do_not_run_or_cannot_make_environments_are_passed_over(machine, tmp_path):
    machine.add("python3.11", "#!/bin/sh\nexit 127\n")
    machine.add("python3.12", python_without("ensurepip", tmp_path))
    machine.add("python3.13", STUB)
    code, errors, calls = machine.build()
    assert (code, errors) == (0, "")
    assert "-m venv --clear .venv" in calls


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
    code, _, calls = machine.build(UV_FAILS="1")
    assert code == 0
    assert re.search(r"^-m pip .*--require-hashes -r requirements.lock$", calls, re.M)
    shutil.rmtree(machine.project / ".venv")
    code, errors, _ = machine.build(UV_FAILS="1", INSTALLER="uv")
    assert code == 1
    assert "run again with INSTALLER=pip" in errors


def test_a_missing_libgomp_is_one_line_and_no_finished_environment(machine):
    machine.add("python3", STUB)
    code, errors, _ = machine.build(NO_LIBGOMP="1")
    assert code == 1
    assert errors.count("\n") == 1 and "apt install libgomp1" in errors
    assert machine.build()[0] == 0, "built anew once it is there"


@pytest.mark.parametrize("content", ["thesis.tex", ".ssh/key", "pyvenv.cfg"])
def test_a_folder_that_holds_something_else_is_left_as_it_is(machine, content):
    """A folder that VENV names by mistake, and an environment of the user's own with packages."""
    machine.add("python3", STUB)
    kept = machine.project / ".venv" / content
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    (kept.parent / "lib/python3.11/site-packages/torch-2.dist-info").mkdir(parents=True)
    code, errors, calls = machine.build()
    assert (code, errors.count("\n"), kept.read_text()) == (1, 1, "mine")
    assert "name another folder by VENV=FOLDER" in errors and "-m venv" not in calls


def test_the_environment_behind_a_link_is_left_as_it_is(machine, tmp_path):
    """Python's venv empties what is behind the link, and then fails."""
    machine.add("python3", STUB)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "tools.lock").write_text("")
    (machine.project / ".venv").symlink_to(tmp_path / "other")
    code, errors, calls = machine.build()
    assert (code, errors.count("\n")) == (1, 1) and "is a link" in errors
    assert "-m venv" not in calls and (tmp_path / "other" / "tools.lock").exists()


@pytest.mark.parametrize("package", ["pip-23.2.1", "setuptools-65.5.0"])
def test_an_environment_that_venv_had_just_made_is_made_anew(machine, package):
    machine.add("python3", STUB)
    folder = machine.project / ".venv"
    (folder / f"lib/python3.11/site-packages/{package}.dist-info").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("")
    assert machine.build()[:2] == (0, "")


def test_the_environment_finds_the_project_without_the_name_of_its_folder():
    """With an ö in that name, Python did not start where the locale is C."""
    packages = Path(sysconfig.get_path("purelib"))
    if not packages.is_relative_to(ROOT):
        pytest.skip("this Python is not the environment that make builds within the project")
    (file,) = packages.glob("__editable__*.pth")
    line = file.read_text().strip()
    assert not Path(line).is_absolute() and (packages / line).resolve() == ROOT / "src"


def test_uv_asks_the_index_that_pip_asks():
    settings = script("workflow/uv_settings.py").uv_settings
    lines = [
        ":env:.index-url='https://b.test/simple'\n",
        "global.index-url='https://a.test/simple'\n",
        "global.extra-index-url='https://c.test/simple\\nhttps://d.test/simple'\n",
        "install.find-links='wheels more'\n",
        "global.no-index='false'\n",
        "freeze.timeout='10'\n",
    ]
    assert settings(lines) == {
        "UV_DEFAULT_INDEX": "https://b.test/simple",
        "UV_INDEX": "https://c.test/simple https://d.test/simple",
        "UV_FIND_LINKS": "wheels,more",
        "UV_OFFLINE": "false",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }
    process = subprocess.run(
        [sys.executable, str(ROOT / "workflow" / "uv_settings.py")],
        input="".join(lines),
        env={"UV_DEFAULT_INDEX": "https://mine.test/simple"},
        text=True,
        capture_output=True,
        check=True,
    )
    assert "UV_DEFAULT_INDEX" not in process.stdout, "settings of uv stay"
    assert "export UV_FIND_LINKS=wheels,more\n" in process.stdout


def test_environment_for_conda_is_in_step_with_the_lock():
    text = (ROOT / "environment.yml").read_text()
    environment = yaml.safe_load(text)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = re.search(r"--python-version (\S+)", (ROOT / "Makefile").read_text())[1]
    assert f"python={python}" in environment["dependencies"]
    assert project["requires-python"] == f">={python}"
    (pip,) = [d["pip"] for d in environment["dependencies"] if isinstance(d, dict)]
    # Read from the lock in another way than the script does.
    lock = (ROOT / "requirements.lock").read_text()
    pins = [line.split(" \\")[0] for line in lock.splitlines() if line[:1] not in (" ", "#", "")]
    assert [pin.replace("'", '"') for pin in pins] == pip, "run make lock"
    # Snakemake copies the file to another folder: no path in it, and no option of pip.
    assert all(re.match(r"[a-z0-9-]+==[^ /]+( ;.*)?$", pin) for pin in pip)
    assert text == script("workflow/make_environment_yml.py").environment(lock, python), (
        "run make lock"
    )


def test_the_lock_has_a_file_of_each_compiled_package_for_every_python():
    # The lock was once made with an index that holds one file of a package: with another Python
    # the environment could not be built.
    lock, n_pythons = (ROOT / "requirements.lock").read_text(), len(("3.11", "3.12", "3.13"))
    n_files = {}
    for entry in re.split(r"\n(?! )", lock):
        name = entry.partition("==")[0]
        if name and re.search(r"^Tag: cp3\d+-cp3\d+-", wheel_of(name), re.M):
            n_files[name] = entry.count("--hash=")
    assert "numba" in n_files
    assert {name: n for name, n in n_files.items() if n < n_pythons} == {}, "run make lock"


def wheel_of(package):
    """What the installed package says about the file that it came from."""
    try:
        return importlib.metadata.distribution(package).read_text("WHEEL") or ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def test_markers_of_the_lock_are_kept():
    lock = (
        "one==1 \\\n    --hash=sha256:0\ntwo==2 ; sys_platform == 'win32' \\\n    --hash=sha256:1\n"
    )
    environment = yaml.safe_load(
        script("workflow/make_environment_yml.py").environment(lock, "3.11")
    )
    assert environment["dependencies"][-1]["pip"] == ["one==1", 'two==2 ; sys_platform == "win32"']


@pytest.fixture
def bare(tmp_path):
    """An environment with all packages of this one, but without splitcredit."""
    folder = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    # Folders in a .pth file are not searched for .pth files, such as that of an editable install.
    (packages,) = folder.glob("lib/python*/site-packages")
    # Behind a link, as Python reads .pth files in the encoding of the locale.
    (packages / "packages").symlink_to(sysconfig.get_path("purelib"))
    (packages / "packages.pth").write_text("packages\n")
    return folder


def copy_of_workflow(folder):
    folder.mkdir()
    for name in ("workflow", "config"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, folder)
    (folder / "src").symlink_to(ROOT / "src")
    return folder


def run_in(environment, project, *command, path=()):
    """Run a command in the project with an environment first in PATH, and no PYTHONPATH."""
    places = [*map(str, path), str(environment / "bin"), os.environ["PATH"]]
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(environment / "bin" / "python"), *command],
        cwd=project,
        env={**variables, "PATH": os.pathsep.join(places)},
        text=True,
        capture_output=True,
    )


@pytest.mark.long
def test_jobs_find_the_package_where_it_is_not_installed(bare, tmp_path):
    project = copy_of_workflow(tmp_path / "with space {and braces}")
    assert run_in(bare, project, "-c", "import snakemake").returncode == 0
    bare_import = run_in(bare, project, "-c", "import splitcredit")
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
    process = run_in(
        bare, project, "-m", "snakemake", "probe", "unset", "-s", "probe.smk", *OPTIONS
    )
    assert (project / "probe.txt").exists(), process.stderr
    package_file = (project / "probe.txt").read_text().strip()
    assert package_file == str(project / "src" / "splitcredit" / "__init__.py")
    assert process.returncode == 1
    assert "nothing: unbound variable" in process.stderr
    assert not (project / "unset.txt").exists()
