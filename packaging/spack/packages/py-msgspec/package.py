# Copyright Steelyard contributors. SPDX-License-Identifier: BSD-3-Clause

try:
    from spack_repo.builtin.build_systems.python import PythonPackage
except ImportError:  # before Spack 1.0 it is in spack.package
    pass

from spack.package import *


class PyMsgspec(PythonPackage):
    """Serialization and validation of JSON, MessagePack, YAML and TOML."""

    homepage = "https://jcristharif.com/msgspec/"
    pypi = "msgspec/msgspec-0.22.0.tar.gz"

    license("BSD-3-Clause")

    version("0.22.0", sha256="0a13624a4969159fe35d8c2a3d377b2b61bbd8585e327440d5e52725affcce38")
    version("0.19.0", sha256="604037e7cd475345848116e89c553aa9a233259733ab51986ac924ab1b976f8e")

    depends_on("c", type="build")

    depends_on("python@3.10:", when="@0.22:", type=("build", "run"))
    depends_on("py-setuptools", type="build")
    depends_on("py-setuptools@80:", when="@0.22:", type="build")
    depends_on("py-setuptools-scm@8:", when="@0.22:", type="build")
