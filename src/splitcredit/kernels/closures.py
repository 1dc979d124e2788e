"""Digests of kernels: of the function, of those that it calls, and of the constants they read.

They are made from the byte code, which holds no comments; docstrings and line numbers are left out.
"""

from __future__ import annotations

import dis
import hashlib
import types
from functools import cache

import numpy as np


@cache
def digest_of(kernel) -> str:
    """A digest that changes whenever the compiled code of a kernel could.

    Parameters
    ----------
    kernel
        As the decorator `splitcredit.kernels.compiled.kernel` returns it.

    Raises
    ------
    TypeError
        If it reads something that the digest does not know how to take in.
    """
    closure: dict[object, str] = {}
    waiting = [kernel]
    while waiting:
        one = waiting.pop()
        if one.py_func not in closure:
            text, called = _parts(one.py_func)
            closure[one.py_func] = f"{_options(one)} {text}"
            waiting += called
    digest = hashlib.sha256()
    # Sorted by content: functions of different modules may have the same name.
    for part in sorted(closure.values()):
        digest.update(part.encode())
    return digest.hexdigest()


def _options(kernel) -> str:
    """The options that the decorator gives to numba."""
    dispatcher = getattr(kernel, "dispatcher", kernel)
    options = sorted(dispatcher.targetoptions.items())
    return f"{options} {dispatcher._compiler.pipeline_class.__name__}"


def _parts(function) -> tuple[str, list]:
    """The function as text, without what it calls; and the functions that it calls."""
    code, called, lines = function.__code__, [], [function.__qualname__]
    lines.append(_code_text(code, function.__doc__))
    if function.__defaults__ or function.__closure__:
        raise TypeError(f"kernel {function.__qualname__} has defaults or free variables")
    for name in sorted(_global_names(code)):
        value = function.__globals__.get(name)
        if hasattr(value, "py_func"):
            called.append(value)
            value = value.py_func
        if hasattr(value, "_defn"):  # one of numba's intrinsics, which write LLVM's own language
            value = value._defn
            lines += _texts(value)
        lines.append(f"{name} = {_constant(name, value)}")
    return "\n".join(lines), called


def _texts(function) -> list[str]:
    """A function that writes code, and all functions of its module that it calls, as texts."""
    seen, waiting = [], [function]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.append(one)
        values = (one.__globals__.get(name) for name in sorted(_global_names(one.__code__)))
        waiting += [each for each in values if isinstance(each, types.FunctionType)]
    return sorted(_code_text(one.__code__, one.__doc__) for one in seen)


def _code_text(code, docstring) -> str:
    """Byte code and constants; the docstring is the first constant."""
    constants = list(code.co_consts)
    if docstring is not None and constants and constants[0] == docstring:
        constants[0] = None
    texts = [
        _code_text(c, None) if isinstance(c, types.CodeType) else f"{type(c).__name__} {c!r}"
        for c in constants
    ]
    names = code.co_names, code.co_varnames, code.co_argcount, code.co_freevars
    return f"{code.co_code.hex()} {texts} {names}"


def _global_names(code) -> set[str]:
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def _constant(name, value) -> str:
    """What a global name stands for."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, np.dtype):
        return f"{value!r} {value.itemsize} {value.fields}"
    if value is None or isinstance(value, (bool, int, float, str, np.generic)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return str([_constant(name, item) for item in value])
    if isinstance(value, types.FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if isinstance(value, types.ModuleType) and not value.__name__.startswith("splitcredit"):
        return value.__name__
    raise TypeError(f"a kernel reads {name}, a {type(value).__name__}: make it a constant")
