//! What a command started, where its tools lie, and where packages come from by default.

use super::{Family, judge_families};

/// Ordinary ways to reach tools, and what only looks like them.
const REACHED: &[Family] = &[
    Family {
        name: "a command ends what it started",
        asks: &[
            "kill $PID",
            "trap 'kill $PID' EXIT",
            "npm run dev & PID=$!; PID=$(pidof nginx); kill $PID",
            "npm run dev & if true; then PID=$(pidof nginx); else PID=$!; fi; kill $PID",
            "npm run dev & PID=$!; kill $PID 1",
            "npm run dev & PID=$!; kill $PID $OTHER",
            "npm run dev & PID=$!; kill 1$PID",
            "npm run dev & PID=$!; rm -rf ~/$PID",
            "rm -rf ~/$!",
            "cat /proc/$!/environ",
        ],
        runs: &[
            "npm run dev & kill $!",
            "npm run dev & sleep 3; kill %1",
            "npm run dev & PID=$!; sleep 3; kill -9 $PID; wait $PID",
            "npm run dev & PID=$!; sleep 3; kill -- -$PID",
            "npm run dev & PID=$!; trap 'kill $PID' EXIT; sleep 1",
        ],
    },
    Family {
        name: "package indexes that installers use by default",
        asks: &[
            "pip install --index-url https://pypi.example.org/simple x",
            "pip install --index-url http://pypi.org/simple x",
            "pip install --index-url https://pypi.org@example.org/simple x",
            "pip install --index-url https://pypi.org.example.org/simple x",
            "pip install --index-url https://pypi.org:8443/simple x",
            "pip install --index-url http://localhost:8080/simple x",
            "pip install --index-url https://github.com/x/y x",
            "pip install -i https://pypi.org/simple --extra-index-url https://example.org x",
            "pip install git+https://pypi.org/x",
            "npm install --registry https://registry.example.org x",
        ],
        runs: &[
            "pip install --index-url https://download.pytorch.org/whl/cpu torch",
            "pip install --extra-index-url https://download.pytorch.org/whl/cu121 torch",
            "pip install -f https://download.pytorch.org/whl/torch_stable.html torch",
            "uv pip install --index-url https://download.pytorch.org/whl/cpu torch",
            "uv add --index https://download.pytorch.org/whl/cpu torch",
            "npm install --registry https://registry.npmjs.org x",
        ],
    },
    Family {
        name: "variables that only begin like a compiler's",
        asks: &[
            "CC=/tmp/x make",
            "CC_x86_64_unknown_linux_gnu=/tmp/x cargo build",
            "CXX_FOR_TARGET=/tmp/x make",
            "CC_host=/tmp/x make",
        ],
        runs: &[
            "CC_VER=12 make",
            "CC_OPTS=-O2 make",
            "CXX_STANDARD=17 cmake .",
        ],
    },
    Family {
        name: "directories that package managers fill",
        asks: &[
            "~/miniconda3/envs/x/bin/rm -rf src",
            "cp notes.txt ~/.pyenv/shims/python; ~/.pyenv/shims/python x.py",
            "echo 'rm -rf src' > ~/.volta/bin/node; ~/.volta/bin/node x.js",
            "/opt/conda/envs/x/y/bin/python x.py",
            "/opt/conda/envs/../../strange/bin/python x.py",
            "/tmp/miniconda3/bin/python x.py",
            "/tmp/.pyenv/shims/python x.py",
            "~/Downloads/miniconda3/bin/python x.py",
            "/opt/conda/envs/x/bin/nobody-knows-this",
            "/opt/conda/envs/$X/bin/python x.py",
        ],
        runs: &[
            "/opt/conda/envs/x/bin/pip install numpy",
            "/opt/miniconda3/envs/testbed/bin/python -m pytest",
            "~/.pyenv/shims/python x.py",
            "~/.nvm/versions/node/v20.1.0/bin/node x.js",
            "/root/miniconda3/envs/x/bin/python x.py",
            "/nix/store/abc-python3-3.11/bin/python3 x.py",
            "/opt/homebrew/opt/node@20/bin/node x.js",
            "/home/linuxbrew/.linuxbrew/bin/brew list",
        ],
    },
    Family {
        name: "scripts of such installations",
        asks: &[
            "source /tmp/x/bin/activate",
            "source /opt/strange/bin/activate",
            "source /tmp/etc/profile.d/conda.sh",
            "echo 'rm -rf src' > ~/miniconda3/bin/activate; source ~/miniconda3/bin/activate",
            "deactivate() { rm -rf src; }; deactivate",
        ],
        runs: &[
            "source .venv/bin/activate && python x.py && deactivate",
            "source /opt/conda/bin/activate x",
            "source /opt/conda/etc/profile.d/conda.sh && conda activate x",
            "source ~/miniconda3/etc/profile.d/conda.sh",
        ],
    },
];

#[test]
fn ordinary_ways_to_reach_tools_run() {
    judge_families(REACHED);
}
