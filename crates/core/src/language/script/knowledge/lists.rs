//! The lists themselves, one block per language.

use super::Lists;
use crate::language::script::effects::Effect;

pub(super) const PYTHON: Lists = Lists {
    functions: "
        and as assert async await break class continue def del elif else except False finally for
        from global if import in is lambda match case None nonlocal not or pass raise return True
        try while with yield type self cls
        print len range sorted sum min max abs round int float str bool list dict set tuple
        enumerate zip map filter any all repr ord chr bin hex oct divmod pow isinstance issubclass
        hash id iter next reversed slice format input bytes bytearray frozenset complex callable
        object super property staticmethod classmethod dir help exit quit ascii memoryview
        Exception ValueError KeyError IndexError TypeError RuntimeError AttributeError ImportError
        ModuleNotFoundError FileNotFoundError OSError IOError StopIteration AssertionError
        ZeroDivisionError UnicodeDecodeError KeyboardInterrupt SystemExit NotImplementedError
        BaseException NameError OverflowError ArithmeticError LookupError EOFError TimeoutError
        ConnectionError PermissionError NotADirectoryError IsADirectoryError FileExistsError
        UnicodeError UnicodeEncodeError RecursionError MemoryError GeneratorExit SyntaxError
        StopAsyncIteration Warning UserWarning DeprecationWarning FutureWarning BrokenPipeError
        ExceptionGroup aiter anext
        NotImplemented Ellipsis __name__ __file__ __doc__ _ __debug__ xrange unicode raw_input",
    methods: "
        join split rsplit splitlines strip lstrip rstrip replace lower upper title capitalize
        casefold swapcase startswith endswith find rfind index rindex count format format_map
        encode decode zfill ljust rjust center expandtabs partition rpartition translate isdigit
        isalpha isalnum isspace isupper islower istitle isnumeric isdecimal isidentifier
        isprintable isascii removeprefix removesuffix maketrans hex fromhex append extend insert
        pop remove clear sort reverse copy get items keys values update setdefault popitem fromkeys
        add discard union intersection difference symmetric_difference issubset issuperset
        isdisjoint read readline readlines write writelines flush close seek tell fileno isatty
        buffer group groups groupdict start end span match search findall finditer sub subn
        fullmatch most_common elements subtract total isoformat strftime strptime timestamp date
        time today now utcnow fromtimestamp utcfromtimestamp fromisoformat timetuple toordinal
        weekday isoweekday isocalendar total_seconds days seconds microseconds year month day hour
        minute second microsecond tzinfo astimezone utcoffset hexdigest digest real imag conjugate
        bit_length to_bytes from_bytes is_integer as_integer_ratio numerator denominator quantize
        as_posix as_uri exists is_file is_dir is_absolute is_symlink name stem suffix suffixes
        parent parents parts resolve absolute relative_to with_name with_suffix joinpath iterdir
        glob rglob stat st_size st_mtime st_mode st_uid st_gid home cwd expanduser anchor
        major minor micro releaselevel machine node release processor version sysname
        nodename from_iterable cache_info cache_clear hostname netloc scheme path query fragment
        params port username geturl int fields bytes urn variant lineno offset msg args
        elements cycle next total columns lines fieldnames writerow writerows writeheader
        is_available device_count get_device_name cuda mps backends shape dtype T size mean sum std
        min max argmax argmin round tolist reshape astype ndim head tail describe info iloc loc
        to_string value_counts groupby sort_values isnull dropna sections getint getboolean
        __init__ __name__ __doc__ __version__ __str__ __repr__ __len__ __iter__ __next__ __enter__
        __exit__ __eq__ __hash__ __post_init__ __contains__ __getitem__",
    modules: "
        json math sys os os.path re string textwrap itertools functools collections
        collections.abc datetime time random statistics decimal fractions operator typing
        dataclasses enum platform pprint hashlib base64 binascii uuid csv io glob pathlib struct
        calendar copy bisect heapq unicodedata difflib html html.parser urllib urllib.parse
        urllib.request urllib.error ast tomllib locale zlib ssl socket importlib importlib.metadata
        importlib.util sysconfig site inspect keyword secrets colorsys numbers cmath traceback
        getpass subprocess shutil requests httpx smtplib sqlite3 zoneinfo contextlib abc warnings
        types array queue ipaddress fnmatch shlex timeit gc signal tempfile errno stat
        __future__ configparser email email.utils mimetypes quopri yaml numpy pandas torch",
    versioned: "
        numpy pandas torch torchvision tensorflow scipy sklearn matplotlib flask django fastapi
        requests httpx yaml transformers pytest pip setuptools wheel jinja2 pydantic sqlalchemy
        PIL cv2 aiohttp boto3 click rich openai anthropic langchain cryptography certifi urllib3 six
        attr attrs dateutil pytz tqdm bs4 lxml redis celery psycopg2 pymongo docker kubernetes
        black ruff mypy isort jax keras xgboost lightgbm onnx onnxruntime accelerate datasets
        sentencepiece tokenizers triton vllm ansible paramiko fabric uvicorn gunicorn starlette
        tornado jsonschema toml markdown nltk spacy gensim plotly seaborn bokeh streamlit gradio
        networkx sympy numba cython Cython polars pyarrow dask ray virtualenv packaging",
    attributes: "
        sys: argv version version_info platform executable stdin stdout stderr maxsize byteorder exit path prefix base_prefix exec_prefix implementation flags getsizeof getrecursionlimit getdefaultencoding getfilesystemencoding api_version hexversion float_info int_info builtin_module_names stdlib_module_names copyright maxunicode setrecursionlimit abiflags
        os: getcwd listdir path sep name linesep cpu_count getpid getppid getuid geteuid getgid getegid uname walk scandir stat lstat curdir pardir extsep pathsep devnull getlogin get_terminal_size fspath access readlink times getloadavg urandom F_OK R_OK W_OK X_OK getenv environ sched_getaffinity getgroups isatty sysconf
        os.path: join exists isfile isdir basename dirname abspath realpath expanduser expandvars getsize getmtime getctime getatime normpath normcase relpath split splitext splitdrive islink isabs samefile commonpath commonprefix sep ismount lexists
        json: load loads dump dumps JSONDecodeError JSONEncoder JSONDecoder
        math: acos asin atan atan2 ceil comb cos cosh degrees dist e exp fabs factorial floor fmod fsum gcd hypot inf isclose isfinite isinf isnan isqrt lcm log log10 log1p log2 nan perm pi pow prod radians sin sinh sqrt tan tanh tau trunc copysign erf gamma
        cmath: sqrt exp phase polar pi
        re: compile search match fullmatch findall finditer sub subn split escape IGNORECASE MULTILINE DOTALL VERBOSE ASCII I M S X error Pattern Match
        string: ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace printable Template capwords
        textwrap: dedent indent wrap fill shorten
        itertools: accumulate chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse groupby islice permutations product repeat starmap takewhile tee zip_longest pairwise batched
        functools: reduce partial lru_cache cache wraps cmp_to_key total_ordering cached_property
        collections: Counter defaultdict OrderedDict deque namedtuple ChainMap abc
        datetime: datetime date time timedelta timezone UTC
        time: time sleep strftime strptime gmtime localtime mktime ctime asctime perf_counter monotonic time_ns process_time tzname timezone
        random: random randint choice choices sample shuffle uniform seed randrange gauss getrandbits randbytes
        statistics: mean median mode stdev variance pstdev pvariance quantiles fmean
        decimal: Decimal getcontext ROUND_HALF_UP
        fractions: Fraction
        operator: itemgetter add mul sub truediv eq lt gt le ge and_ or_ xor neg mod floordiv
        typing: Any Dict List Optional Tuple Union Callable Iterable Iterator NamedTuple TypedDict Literal Set
        dataclasses: dataclass field asdict astuple fields replace
        enum: Enum IntEnum Flag auto unique
        platform: platform system machine processor release version python_version node architecture uname mac_ver libc_ver python_implementation win32_ver freedesktop_os_release
        pprint: pprint pformat
        hashlib: md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s new sha3_256 sha3_512 algorithms_available pbkdf2_hmac
        base64: b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode b85encode b85decode standard_b64encode standard_b64decode
        binascii: hexlify unhexlify crc32
        uuid: uuid4 uuid1 uuid3 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL
        csv: reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL
        io: StringIO BytesIO TextIOWrapper
        glob: glob iglob escape
        pathlib: Path PurePath PosixPath PurePosixPath
        struct: pack unpack calcsize unpack_from iter_unpack
        calendar: month calendar monthrange isleap day_name month_name timegm monthcalendar TextCalendar
        copy: copy deepcopy
        bisect: bisect bisect_left bisect_right insort
        heapq: heappush heappop heapify nlargest nsmallest merge
        unicodedata: name normalize category lookup numeric unidata_version
        difflib: unified_diff ndiff SequenceMatcher get_close_matches context_diff
        html: escape unescape
        urllib.parse: quote unquote quote_plus unquote_plus urlencode urlparse urlsplit parse_qs parse_qsl urljoin urlunparse
        ast: literal_eval parse dump
        tomllib: loads load
        zlib: crc32 adler32 compress decompress
        ssl: OPENSSL_VERSION get_default_verify_paths
        socket: gethostname getfqdn gethostbyname
        importlib: metadata util
        importlib.metadata: version distributions metadata packages_distributions PackageNotFoundError
        importlib.util: find_spec
        sysconfig: get_path get_paths get_config_var get_config_vars get_platform get_python_version
        site: getsitepackages getusersitepackages USER_SITE USER_BASE ENABLE_USER_SITE
        inspect: signature getsource getdoc isfunction isclass getfile
        keyword: kwlist iskeyword
        secrets: token_hex token_urlsafe token_bytes choice randbelow
        traceback: print_exc format_exc
        getpass: getuser
        shutil: which disk_usage get_terminal_size
        zoneinfo: ZoneInfo available_timezones
        ipaddress: ip_address ip_network IPv4Network IPv4Address IPv6Address ip_interface
        fnmatch: fnmatch filter
        shlex: quote split join
        collections.abc: Mapping Sequence Iterable
        subprocess: PIPE DEVNULL STDOUT CalledProcessError TimeoutExpired
        warnings: filterwarnings simplefilter warn
        yaml: safe_load safe_load_all safe_dump
        errno: ENOENT EACCES errorcode
        stat: S_ISDIR S_ISREG filemode S_IMODE
        email.utils: parseaddr formatdate parsedate_to_datetime
        mimetypes: guess_type
        timeit: default_timer
        tempfile: gettempdir
        __future__: annotations print_function division absolute_import unicode_literals
        numpy: array arange zeros ones linspace mean sum std sqrt pi dot eye
        torch: cuda version backends __version__ tensor
        torch.cuda: is_available device_count get_device_name",
    forbidden: "
        eval exec compile __import__ getattr setattr delattr globals locals vars breakpoint
        __builtins__ __loader__ __spec__ execfile reload",
    makers: "eval exec compile __import__ execfile",
    reaching: "
        os posix nt sys subprocess shutil socket ssl socketserver asyncio.subprocess importlib imp
        runpy code codeop builtins ctypes cffi _ctypes pickle cPickle dill cloudpickle joblib
        marshal shelve pty tty fcntl resource multiprocessing.connection signal atexit gc inspect
        site sysconfig types zipimport pkgutil zipapp venv ensurepip pip setuptools distutils
        smtplib ftplib telnetlib poplib imaplib nntplib http urllib urllib2 urllib3 httplib httplib2
        xmlrpc requests httpx aiohttp websocket websockets pycurl paramiko fabric fabric2 asyncssh
        pexpect plumbum sh invoke scapy impacket pwn nmap dns twisted zmq grpc pika kafka paho
        boto boto3 botocore aioboto3 s3fs gcsfs azure google googleapiclient kubernetes docker
        podman openstack digitalocean linode_api4 hcloud ovh cloudflare github gitlab jira slack
        slack_sdk slack_bolt discord telegram telethon pyrogram twilio vonage sendgrid mailgun
        mailchimp postmarker tweepy facebook stripe braintree paypalrestsdk square plaid web3 ccxt
        selenium playwright pyppeteer mechanize pyautogui pynput keyboard mouse pyperclip keyring
        psutil psycopg psycopg2 asyncpg pymysql MySQLdb mysql pymssql cx_Oracle oracledb pyodbc
        pymongo motor redis aioredis elasticsearch cassandra neo4j sqlalchemy peewee ldap3 winreg
        win32api win32com wmi dbus systemd crontab torch.hub huggingface_hub ansible salt nornir
        logging.handlers logging.config yaml.load yaml.unsafe_load yaml.full_load torch.load
        open webbrowser antigravity pdb bdb trace profile cProfile faulthandler",
    reaching_methods: "
        connect connect_ex sendall send sendto sendmsg sendfile sendmail send_message post put patch
        request urlopen publish upload upload_file upload_fileobj put_object delete_object
        delete_bucket delete_many delete_one drop drop_all drop_database drop_table execute
        executemany executescript exec_command invoke_shell system popen spawn rmtree removedirs
        rename unlink rmdir chmod chown kill terminate import_module exec_module load_module
        load_source find_class run_module run_path fork execv execve execvp interact get_data
        read_pickle to_sql set_trace f_globals f_locals f_builtins f_back gi_frame tb_frame
        func_globals mro trust_remote_code delete create_subprocess_exec create_subprocess_shell
        subprocess_exec subprocess_shell open_connection start_server create_connection
        create_server create_datagram_endpoint",
    effects: &[
        (Effect::Shell, "os.system os.popen subprocess.run subprocess.call subprocess.check_call
            subprocess.check_output subprocess.Popen subprocess.getoutput
            subprocess.getstatusoutput commands.getoutput"),
        (Effect::Program, "os.execl os.execlp os.execv os.execvp os.spawnl os.spawnlp os.spawnv
            os.startfile pty.spawn"),
        (Effect::Open, "open io.open codecs.open gzip.open bz2.open lzma.open"),
        (Effect::Read, "pandas.read_csv pandas.read_json pandas.read_excel pandas.read_parquet
            numpy.load numpy.loadtxt configparser.read sqlite3.connect"),
        (Effect::Write, "os.mkdir os.makedirs os.truncate os.mkfifo os.mknod numpy.save
            zipfile.ZipFile tarfile.open"),
        (Effect::Copy, "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree"),
        (Effect::Link, "os.symlink os.link"),
        (Effect::Move, "os.rename os.replace os.renames shutil.move"),
        (Effect::Delete, "os.remove os.unlink os.rmdir"),
        (Effect::DeleteTree, "shutil.rmtree os.removedirs"),
        (Effect::Fetch, "requests.get requests.head requests.options urllib.request.urlopen
            urllib.request.urlretrieve urllib2.urlopen httpx.get wget.download"),
        (Effect::Send, "requests.post requests.put requests.patch requests.delete requests.request
            httpx.post httpx.put httpx.patch httpx.delete smtplib.SMTP smtplib.SMTP_SSL
            socket.socket socket.create_connection ftplib.FTP http.client.HTTPSConnection
            http.client.HTTPConnection telnetlib.Telnet urllib.request.Request"),
        (Effect::Kill, "os.kill os.killpg os.abort"),
        (Effect::Rights, "os.chmod os.chown os.lchown os.setuid os.setgid shutil.chown"),
    ],
    member_effects: &[
        (Effect::Read, "read_text read_bytes"),
        (Effect::Open, "open"),
        (Effect::Write, "write_text write_bytes touch mkdir"),
        (Effect::Link, "symlink_to hardlink_to"),
        (Effect::Delete, "unlink rmdir"),
        (Effect::Rights, "chmod lchmod"),
    ],
};

pub(super) const JAVASCRIPT: Lists = Lists {
    functions: "
        async await break case catch class const continue default delete do else export extends
        false finally for function if in instanceof let new null of return static super switch
        throw true try typeof undefined var void while yield NaN Infinity from as
        JSON Math Object Array String Number Boolean Date Map Set WeakMap WeakSet RegExp Error
        TypeError RangeError SyntaxError Promise Symbol BigInt Intl parseInt parseFloat isNaN
        isFinite encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape
        setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask Buffer URL
        URLSearchParams TextEncoder TextDecoder structuredClone atob btoa Uint8Array Int32Array
        Float64Array ArrayBuffer DataView __dirname __filename console arguments",
    methods: "
        log error warn info debug table dir time timeEnd group groupEnd count trace stringify parse
        keys values entries assign fromEntries freeze is isArray from of map filter reduce
        reduceRight forEach some every find findIndex findLast findLastIndex includes indexOf
        lastIndexOf join slice splice push pop shift unshift concat flat flatMap sort reverse fill
        at toSorted toReversed with copyWithin split replace replaceAll trim trimStart trimEnd
        toLowerCase toUpperCase startsWith endsWith padStart padEnd charAt charCodeAt codePointAt
        substring substr repeat match matchAll search test exec normalize localeCompare toString
        toFixed toPrecision toExponential toLocaleString toLocaleDateString toLocaleTimeString
        valueOf has get set add delete clear size then catch finally resolve reject all allSettled
        race any abs ceil floor round max min random sqrt cbrt pow trunc sign hypot log2 log10 sin
        cos tan atan atan2 exp now getTime getFullYear getMonth getDate getDay getHours getMinutes
        getSeconds getMilliseconds toISOString toJSON UTC fromCharCode fromCodePoint raw isInteger
        isSafeInteger isFinite isNaN parseInt parseFloat hasOwn hasOwnProperty getTimezoneOffset
        next return encode decode append getAll toArray byteLength alloc equals readUInt8
        readUInt16BE readUInt32BE readUInt32LE isBuffer description format resolvedOptions
        getOwnPropertyNames groupBy digest update on setEncoding write end cpus totalmem freemem
        platform arch release hostname uptime type join resolve basename dirname extname relative
        normalize isAbsolute sep read iterator length",
    modules: "
        fs path os util crypto url querystring child_process http https assert events readline zlib
        buffer string_decoder timers perf_hooks net",
    versioned: "",
    attributes: "
        process: version versions argv execPath platform arch pid ppid cwd exit exitCode uptime hrtime memoryUsage stdout stdin stderr title release features config nextTick getuid cpuUsage on argv0 execArgv
        fs: existsSync statSync readdirSync lstatSync realpathSync accessSync constants readdir stat access exists readlinkSync
        path: join resolve basename dirname extname relative normalize sep isAbsolute parse format posix win32 delimiter
        os: cpus totalmem freemem platform arch release hostname homedir tmpdir EOL type uptime loadavg networkInterfaces userInfo version availableParallelism endianness
        util: inspect format types isDeepStrictEqual parseArgs
        crypto: randomBytes randomUUID createHash createHmac getHashes timingSafeEqual randomInt
        url: parse URL format resolve fileURLToPath pathToFileURL
        querystring: parse stringify escape unescape
        assert: equal strictEqual deepEqual ok deepStrictEqual
        performance: now
        perf_hooks: performance
        zlib: gzipSync gunzipSync inflateSync deflateSync
        Deno: version args
        Bun: version",
    forbidden: "
        eval Function globalThis global window require import Reflect Proxy WebAssembly module
        vm GeneratorFunction AsyncFunction",
    makers: "eval Function GeneratorFunction AsyncFunction vm WebAssembly",
    reaching: "
        fs process os child_process cluster worker_threads vm vm2 module repl inspector net tls dgram
        dns http http2 https v8 wasi trace_events domain ffi-napi ref-napi node-gyp bindings require
        import global globalThis window document navigator self parent top frames localStorage
        sessionStorage indexedDB WebSocket XMLHttpRequest EventSource Worker SharedWorker
        importScripts Deno Bun axios got node-fetch undici superagent request needle ky ws socket.io
        socket.io-client nodemailer ssh2 node-ssh ftp basic-ftp execa shelljs zx cross-spawn rimraf
        del fs-extra graceful-fs trash open puppeteer puppeteer-core playwright playwright-core
        selenium-webdriver aws-sdk @aws-sdk @google-cloud @azure @slack @discordjs discord.js
        telegraf twilio stripe braintree @octokit octokit pg mysql mysql2 mongodb mongoose redis
        ioredis sequelize typeorm knex @prisma kafkajs amqplib mqtt web3 ethers serialize-javascript
        node-serialize dockerode @kubernetes serialport robotjs keytar simple-git nodegit
        constructor __proto__ prototype alert",
    reaching_methods: "
        constructor __proto__ prototype mainModule binding dlopen _load _compile createRequire
        post put patch request send sendMail sendBeacon sendText publish upload query execute
        executeSql exec execSync execFile spawn spawnSync fork unlink unlinkSync rm rmSync rmdir
        rmdirSync rename renameSync chmod chmodSync chown connect createConnection evaluate
        evaluateOnNewDocument runInContext runInNewContext runInThisContext setPrototypeOf
        defineProperty deleteMany deleteOne drop dropDatabase kill $executeRaw $queryRaw apply call
        bind",
    effects: &[
        (Effect::Shell, "child_process.exec child_process.execSync"),
        (Effect::Program, "child_process.spawn child_process.spawnSync child_process.execFile
            child_process.execFileSync child_process.fork Bun.spawn Deno.run"),
        (Effect::Read, "fs.readFileSync fs.readFile fs.createReadStream Deno.readTextFile
            Deno.readTextFileSync Bun.file"),
        (Effect::Write, "fs.writeFileSync fs.writeFile fs.appendFileSync fs.appendFile
            fs.createWriteStream fs.mkdirSync fs.mkdir fs.truncateSync fs.truncate
            Deno.writeTextFile Deno.writeTextFileSync Bun.write fs.mkdtempSync"),
        (Effect::Open, "fs.openSync fs.open"),
        (Effect::Copy, "fs.copyFileSync fs.copyFile fs.cpSync fs.cp"),
        (Effect::Link, "fs.symlinkSync fs.symlink fs.linkSync fs.link Deno.symlink Deno.symlinkSync
            Deno.link Deno.linkSync"),
        (Effect::Move, "fs.renameSync fs.rename"),
        (Effect::Delete, "fs.unlinkSync fs.unlink"),
        (Effect::DeleteMaybeTree, "fs.rmSync fs.rm fs.rmdirSync fs.rmdir Deno.remove Deno.removeSync"),
        (Effect::DeleteTree, "rimraf.sync rimraf fs.removeSync fs.emptyDirSync"),
        (Effect::Fetch, "fetch https.get http.get axios.get axios"),
        (Effect::Send, "https.request http.request axios.post axios.put axios.delete axios.patch
            net.connect net.createConnection net.createServer http.createServer"),
        (Effect::Kill, "process.kill process.abort"),
        (Effect::Rights, "fs.chmodSync fs.chmod fs.chownSync fs.chown process.setuid"),
    ],
    member_effects: &[],
};

pub(super) const PERL: Lists = Lists {
    functions: "
        print printf say length substr index rindex uc lc ucfirst lcfirst join split map grep sort
        reverse keys values each push pop shift unshift splice scalar defined exists delete chomp
        chop chr ord sprintf abs int sqrt sin cos atan2 exp log hex oct rand srand time localtime
        gmtime wantarray ref die warn exit next last redo return my our local state if elsif else
        unless while until for foreach sub BEGIN END INIT eof binmode x eq ne lt gt le ge cmp and or
        not xor undef pos quotemeta pack unpack study reset sleep lstat stat caller bless close
        fileno tell seek select readline getc read sysread fc sum sum0 max min first any all none
        uniq shuffle pairs reduce maxstr minstr product blessed looks_like_number floor ceil fmod
        strftime mktime encode_base64 decode_base64 encode_json decode_json to_json from_json Dumper
        md5_hex sha1_hex sha256_hex basename dirname fileparse getcwd cwd usleep encode decode
        getpwuid getpwnam getgrgid getlogin getppid a b",
    methods: "",
    modules: "
        strict warnings feature utf8 integer bigint bignum constant List::Util Scalar::Util POSIX
        Data::Dumper JSON::PP MIME::Base64 Time::HiRes Time::Local Text::Wrap Text::Abbrev
        Digest::MD5 Digest::SHA File::Basename Cwd Encode Unicode::Normalize Math::Trig open vars
        Term::ANSIColor Text::ParseWords Config bytes locale diagnostics v5",
    versioned: "",
    attributes: "",
    forbidden: "
        eval do require use no syscall fork exec_ socket connect dump AUTOLOAD DESTROY tie untie
        dbmopen sysopen syswrite ioctl fcntl",
    makers: "eval",
    reaching: "",
    reaching_methods: "",
    effects: &[
        (Effect::Shell, "system exec readpipe"),
        (Effect::Open, "open"),
        (Effect::Delete, "unlink rmdir remove"),
        (
            Effect::DeleteTree,
            "rmtree remove_tree File::Path::rmtree File::Path::remove_tree",
        ),
        (Effect::Move, "rename move File::Copy::move"),
        (Effect::Copy, "copy File::Copy::copy"),
        (Effect::Link, "symlink link"),
        (Effect::Write, "mkdir truncate mkpath make_path"),
        (Effect::Kill, "kill"),
        (Effect::Rights, "chmod chown"),
        (Effect::Fetch, "getstore getprint LWP::Simple::get"),
    ],
    member_effects: &[],
};

pub(super) const RUBY: Lists = Lists {
    functions: "
        puts p pp print printf putc if elsif else end unless while until for in do then case when
        def return yield self nil true false and or not begin rescue ensure raise break next redo
        retry class module loop lambda proc gets readline readlines sprintf format rand srand sleep
        exit abort Integer Float String Array Hash Rational Complex
        JSON YAML Math Time Date DateTime Comparable Kernel_ ARGV ARGF STDIN STDOUT STDERR
        RUBY_VERSION RUBY_PLATFORM RUBY_ENGINE RUBY_PATCHLEVEL RUBY_COPYRIGHT RUBY_DESCRIPTION
        Set Struct Range Regexp Symbol StandardError RuntimeError ArgumentError Random SecureRandom
        Digest Base64 CSV URI Etc RbConfig Gem Bundler_ defined? block_given? __FILE__ __method__
        SHA256 MD5 SHA1 Encoding PI E Version BigDecimal OpenSSL_",
    methods: "
        map each each_with_index each_with_object each_line each_char each_slice each_cons each_key
        each_value each_pair select reject filter find detect inject reduce sum min max min_by
        max_by minmax sort sort_by reverse uniq compact flatten flat_map zip group_by partition
        tally count size length first last take drop take_while drop_while join split chars lines
        bytes strip lstrip rstrip chomp chop gsub sub tr delete squeeze upcase downcase capitalize
        swapcase start_with? end_with? include? index rindex match match? scan =~ to_s to_i to_f
        to_a to_h to_sym to_r to_c to_json to_yaml inspect freeze dup clone nil? empty? any? all?
        none? one? is_a? kind_of? respond_to? even? odd? zero? positive? negative? times upto downto
        step abs ceil floor round divmod gcd lcm pow sqrt keys values key? has_key? value? fetch dig
        merge transform_values transform_keys invert push pop shift unshift append prepend insert
        concat rotate sample shuffle combination permutation product transpose each_entry lazy
        with_index ljust rjust center ord chr hex oct unpack unpack1 pack encode force_encoding
        encoding valid_encoding? unicode_normalize now today strftime year month day hour min sec
        wday yday parse iso8601 generate pretty_generate dump safe_load version hexdigest
        base64digest encode64 decode64 strict_encode64 strict_decode64 urlsafe_encode64 read gets
        readlines write puts print flush sync tty? new raise call succ next pred begin end cover?
        PI E sin cos tan atan atan2 exp log log2 log10 hypot cbrt uuid random_number alphanumeric
        message backtrace class name sum_ then tap itself filter_map cycle zip chunk_while
        slice_when each_byte codepoints ascii_only? casecmp casecmp? sum getlogin nprocessors
        platform ruby_version host path scheme query port",
    modules: "
        json yaml date time set csv digest base64 securerandom uri pp bigdecimal English erb
        ostruct optparse benchmark etc rbconfig fileutils net/http open-uri open3 tempfile
        pathname openssl socket shellwords stringio zlib",
    versioned: "",
    attributes: "
        File: exist? exists? file? directory? basename dirname extname join expand_path size mtime stat readable? writable? symlink? zero? absolute_path realpath ftype executable?
        Dir: pwd glob entries children exist? home each_child getwd
        RbConfig: CONFIG
        Process: pid ppid uid euid clock_gettime CLOCK_MONOTONIC
        Gem: Version VERSION ruby_version platforms
        URI: parse encode_www_form decode_www_form join extract
        Etc: getlogin nprocessors getpwuid uname
        Shellwords: escape split join
        IO: console
        Digest: SHA256 MD5 SHA1 SHA512
        OpenSSL: OPENSSL_VERSION VERSION OPENSSL_LIBRARY_VERSION
        Float: INFINITY NAN EPSILON MAX MIN
        Encoding: default_external default_internal UTF_8",
    forbidden: "
        eval instance_eval class_eval module_eval send public_send __send__ const_get method binding
        load require require_relative fork syscall define_method instance_variable_get
        instance_variable_set ObjectSpace Object TOPLEVEL_BINDING autoload trap at_exit_ callcc
        Kernel Marshal DRb instance_exec class_exec",
    makers: "eval instance_eval class_eval module_eval instance_exec class_exec",
    reaching: "",
    reaching_methods: "",
    effects: &[
        (Effect::Shell, "system exec spawn IO.popen Open3.capture2 Open3.capture2e Open3.capture3
            Open3.popen3 Kernel.system Kernel.exec Process.spawn Kernel.spawn"),
        (Effect::Open, "open File.open File.new URI.open Kernel.open IO.open"),
        (Effect::Read, "File.read File.readlines File.foreach IO.read IO.readlines File.binread
            YAML.load_file CSV.read CSV.foreach JSON.load_file YAML.safe_load_file"),
        (Effect::Write, "File.write IO.write File.binwrite FileUtils.touch FileUtils.mkdir
            FileUtils.mkdir_p Dir.mkdir File.truncate"),
        (Effect::Copy, "FileUtils.cp FileUtils.cp_r FileUtils.copy
            FileUtils.install FileUtils.copy_file"),
        (Effect::Link, "FileUtils.ln_s FileUtils.ln FileUtils.ln_sf FileUtils.symlink FileUtils.link
            File.symlink File.link"),
        (Effect::Move, "File.rename FileUtils.mv FileUtils.move"),
        (Effect::Delete, "File.delete File.unlink FileUtils.rm FileUtils.rm_f Dir.rmdir Dir.delete
            Dir.unlink FileUtils.remove FileUtils.rmdir"),
        (Effect::DeleteTree, "FileUtils.rm_rf FileUtils.rm_r FileUtils.remove_dir
            FileUtils.remove_entry FileUtils.remove_entry_secure FileUtils.rmtree
            FileUtils.safe_unlink"),
        (Effect::Fetch, "Net.HTTP.get Net.HTTP.get_response Net.HTTP.get_print"),
        (Effect::Send, "Net.HTTP.post Net.HTTP.post_form TCPSocket.new TCPSocket.open
            Net.HTTP.start Net.HTTP.new Net.SMTP.start UDPSocket.new"),
        (Effect::Kill, "Process.kill"),
        (Effect::Rights, "File.chmod FileUtils.chmod FileUtils.chmod_R FileUtils.chown
            FileUtils.chown_R File.chown"),
    ],
    member_effects: &[],
};

pub(super) const PHP: Lists = Lists {
    functions: "
        echo print if else elseif endif while endwhile for endfor foreach endforeach as do switch
        case default break continue return function fn use true false null TRUE FALSE NULL array
        list isset empty unset exit die global static const new and or xor instanceof try catch
        finally throw match int string bool float
        var_dump print_r var_export printf sprintf number_format strlen strtolower strtoupper
        ucfirst ucwords lcfirst trim ltrim rtrim chop str_replace str_ireplace substr substr_count
        strpos stripos strrpos strstr strrev str_repeat str_pad str_split str_contains
        str_starts_with str_ends_with explode implode join wordwrap nl2br htmlspecialchars
        htmlspecialchars_decode html_entity_decode strip_tags addslashes stripslashes ucwords
        md5 sha1 crc32 hash hash_algos base64_encode base64_decode bin2hex hex2bin urlencode
        urldecode rawurlencode rawurldecode http_build_query parse_url parse_str json_encode
        json_decode json_last_error json_last_error_msg serialize intval floatval strval boolval
        settype gettype is_array is_string is_int is_numeric is_null is_bool is_float is_object
        is_callable count sizeof in_array array_keys array_values array_merge array_combine
        array_flip array_slice array_splice array_sum array_product array_unique array_reverse
        array_push array_pop array_shift array_unshift array_search array_key_exists array_column
        array_chunk array_fill array_pad array_rand array_diff array_intersect array_key_first
        array_key_last range compact sort rsort asort arsort ksort krsort shuffle min max abs ceil
        floor round sqrt pow intdiv fmod pi sin cos tan log exp rand mt_rand random_int random_bytes
        dechex hexdec bindec decbin octdec base_convert is_nan is_finite date time mktime strtotime
        microtime date_default_timezone_get date_default_timezone_set checkdate uniqid usleep sleep
        phpversion phpinfo php_uname php_sapi_name php_ini_loaded_file php_ini_scanned_files
        extension_loaded get_loaded_extensions ini_get memory_get_usage memory_get_peak_usage
        sys_get_temp_dir getcwd gethostname function_exists class_exists defined constant
        preg_match preg_match_all preg_replace preg_split preg_quote preg_grep fgets fgetc feof fread
        stream_get_contents file_exists is_file is_dir is_readable filesize filemtime basename
        dirname pathinfo realpath scandir glob ord chr mb_strlen mb_substr mb_strtoupper
        mb_strtolower mb_strpos iconv password_hash password_verify filter_var ctype_digit
        ctype_alpha spl_object_id zend_version opcache_get_status get_cfg_var openssl_get_cipher_methods
        DateTime DateTimeImmutable DateTimeZone DateInterval ArrayObject stdClass Exception
        error_reporting ini_set_ array_count_values vsprintf similar_text levenshtein soundex
        metaphone nl_langinfo money_format fscanf sscanf fputs fwrite fprintf",
    methods: "format getTimestamp modify add sub diff setTimezone getMessage days y m d h i s",
    modules: "",
    versioned: "",
    attributes: "",
    forbidden: "
        eval assert create_function call_user_func call_user_func_array include include_once require
        require_once extract unserialize array_map array_filter array_walk array_reduce usort uasort
        uksort preg_replace_callback register_shutdown_function ob_start dl ReflectionFunction
        putenv ini_set iterator_apply forward_static_call spl_autoload_register goto pcntl_fork",
    makers: "eval assert create_function",
    reaching: "",
    reaching_methods: "",
    effects: &[
        (Effect::Shell, "system exec shell_exec passthru popen proc_open"),
        (Effect::Program, "pcntl_exec"),
        (Effect::Open, "fopen"),
        (Effect::Read, "file_get_contents file readfile parse_ini_file simplexml_load_file
            highlight_file show_source fpassthru"),
        (Effect::Write, "file_put_contents mkdir touch tempnam"),
        (Effect::Copy, "copy move_uploaded_file"),
        (Effect::Link, "symlink link"),
        (Effect::Move, "rename"),
        (Effect::Delete, "unlink rmdir"),
        (Effect::Fetch, "curl_init get_headers"),
        (Effect::Send, "mail fsockopen stream_socket_client curl_exec socket_create"),
        (Effect::Kill, "posix_kill"),
        (Effect::Rights, "chmod chown chgrp posix_setuid"),
    ],
    member_effects: &[],
};

pub(super) const LUA: Lists = Lists {
    functions: "
        and break do else elseif end false for function goto if in local nil not or repeat return
        then true until while print type tostring tonumber pairs ipairs next select unpack error
        assert pcall xpcall rawlen rawequal rawget arg _VERSION string table math utf8 collectgarbage",
    methods: "
        byte char find format gmatch gsub len lower match rep reverse sub upper pack unpack concat
        insert remove sort move abs ceil floor fmod huge max min modf pi random randomseed sqrt sin
        cos tan asin acos atan exp log pow tointeger type ult maxinteger mininteger read lines close
        write seek flush codepoint codes charpattern",
    modules: "",
    versioned: "",
    attributes: "
        os: time date clock getenv difftime exit
        io: read write stdin stdout stderr close
        string: byte char find format gmatch gsub len lower match rep reverse sub upper
        table: concat insert remove sort unpack pack move
        math: abs ceil floor max min pi random sqrt huge",
    forbidden: "
        load loadstring dofile loadfile require debug _G _ENV package getfenv setfenv setmetatable
        getmetatable rawset module ffi",
    makers: "load loadstring dofile loadfile",
    reaching: "",
    reaching_methods: "",
    effects: &[
        (Effect::Shell, "os.execute io.popen"),
        (Effect::Open, "io.open"),
        (Effect::Read, "io.lines io.input"),
        (Effect::Write, "io.output"),
        (Effect::Delete, "os.remove"),
        (Effect::Move, "os.rename"),
    ],
    member_effects: &[],
};
