# Runs the code that comes as JSON lines on the input, in one namespace, and ends
# each answer with a line that holds the mark of the request. Isolated mode keeps
# files of the project from standing in for the modules that this needs.
import ast, json, linecache, os, signal, site, sys, traceback


def main():
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    user = site.getusersitepackages()
    if os.path.isdir(user):
        site.addsitedir(user)
    sys.path.insert(0, "")
    sys.argv = [""]
    module = type(sys)("__main__")
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    space = module.__dict__
    count = 0
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        line = requests.readline()
        if not line:
            return
        request = json.loads(line)
        count += 1
        status = run(request["code"], "<call %d>" % count, space)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        os.write(1, ("\n%s %s\n" % (request["mark"], status)).encode())


def run(code, name, space):
    linecache.cache[name] = (len(code), None, [l + "\n" for l in code.split("\n")], name)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        tree = ast.parse(code, name)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, name, "exec"), space)
        if last is not None:
            value = eval(compile(last, name, "eval"), space)
            if value is not None:
                space["_"] = value
                print(repr(value))
        return "ok"
    except SystemExit as e:
        print("exit(%s): the interpreter goes on" % ("" if e.code is None else e.code))
        return "ok"
    except KeyboardInterrupt:
        print("KeyboardInterrupt")
        return "interrupted"
    except BaseException as e:
        trace = e.__traceback__
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<call "):
            trace = trace.tb_next
        sys.stdout.flush()
        traceback.print_exception(type(e), e, trace)
        return "error " + type(e).__name__
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


main()
