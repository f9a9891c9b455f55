// Runs the code that comes as JSON lines on the input, all of it in one context,
// and ends each answer with a line that holds the mark of the request.
"use strict";
const repl = require("node:repl");
const util = require("node:util");
const vm = require("node:vm");
const { PassThrough } = require("node:stream");
const lines = require("node:readline").createInterface({ input: process.stdin, terminal: false });

// Node's own REPL makes the context, with console and require in it, and knows
// how to await at the top level.
const server = repl.start({ prompt: "", input: new PassThrough(), output: process.stdout, terminal: false });
Object.defineProperty(server.context, "_", { value: undefined, writable: true, configurable: true }); // REPL's own announces itself
let interrupt = () => {};
process.on("SIGINT", () => interrupt());
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.removeAllListeners(event);
  process.on(event, (e) => process.stdout.write("Uncaught " + show(e) + "\n"));
}

// Errors may come from the context, which has a class Error of its own.
const isError = (e) => util.types.isNativeError(e) && typeof e.stack === "string";

// show is an error with the frames of the code it came from, not of this file.
function show(e) {
  if (!isError(e)) return util.inspect(e);
  const own = /^\s+at .*(\[eval|evalmachine|node:|REPLServer)/;
  return e.stack.split("\n").filter((line) => !own.test(line)).join("\n");
}

function compile(code, filename) {
  const importModuleDynamically = vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const options = importModuleDynamically ? { filename, importModuleDynamically } : { filename };
  if (/^\s*\{/.test(code) && !/;\s*$/.test(code)) {
    try {
      return new vm.Script("(" + code.trim() + "\n)", options); // an object, more likely than a block
    } catch {
      // a block
    }
  }
  return new vm.Script(code, options);
}

function evaluate(code, filename) {
  let script;
  try {
    script = compile(code, filename);
  } catch (e) {
    if (!/\bawait\b/.test(code)) throw e;
    return awaiting(code, filename);
  }
  return script.runInContext(server.context, { breakOnSigint: true });
}

function awaiting(code, filename) {
  return new Promise((resolve, reject) => {
    if (server._domain) { // where there is one, errors go there
      server._domain.removeAllListeners("error");
      server._domain.on("error", reject);
    }
    server.eval(code + "\n", server.context, filename, (e, value) => (e ? reject(e.err || e) : resolve(value)));
  });
}

async function run(code, filename) {
  const stopped = new Promise((_, reject) => {
    interrupt = () => reject(Object.assign(new Error("interrupted"), { code: "ERR_SCRIPT_EXECUTION_INTERRUPTED" }));
  });
  stopped.catch(() => {});
  try {
    const value = await Promise.race([evaluate(code, filename), stopped]);
    if (value !== undefined) {
      server.context._ = value;
      process.stdout.write(util.inspect(value, { depth: 4, maxArrayLength: 200, breakLength: 120 }) + "\n");
    }
    return "ok";
  } catch (e) {
    if (e && e.code === "ERR_SCRIPT_EXECUTION_INTERRUPTED") return "interrupted";
    process.stdout.write("Uncaught " + show(e) + "\n");
    return "error " + (isError(e) ? String(e.name).replace(/\W+/g, "") : "Error");
  } finally {
    interrupt = () => {};
  }
}

let count = 0;
let queue = Promise.resolve();
lines.on("line", (line) => {
  queue = queue.then(async () => {
    const { code, mark } = JSON.parse(line);
    const status = await run(code, "call-" + ++count);
    process.stdout.write("\n" + mark + " " + status + "\n");
  });
});
lines.on("close", () => process.exit());
