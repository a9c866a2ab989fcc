// A process of the suite: runs the test files that the runner sends, one after the other, so that
// they share the imports. Each file has a tap test as its root instead of tap's global one.

import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import root, { type Test } from 'tap';
import { endProcess } from './process-end.ts';
import { processorSeconds } from './processor-time.ts';
import { extendRequestTime } from './request-time.ts';
import { COUNTS } from './tap-output.ts';

export type ToProcess =
  | { file: string; timeoutMs: number; grep: string | undefined }
  | { end: true };
export type FromProcess = { ready: true } | { timeoutMs: number };

const ENDS_WITHIN_MS = 30_000;

const roots = new Map<string, Test>();
const SCHEME = 'tap-of:';
Object.assign(globalThis, { rootOfTestFile: (url: string) => roots.get(url) });

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context;
    return specifier === 'tap' && roots.has(parentURL)
      ? { url: SCHEME + parentURL, format: 'module', shortCircuit: true }
      : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(SCHEME)) return next(url, context);
    const file = JSON.stringify(url.slice(SCHEME.length));
    const source = `export default globalThis.rootOfTestFile(${file});`;
    return { format: 'module', source, shortCircuit: true };
  },
});

async function run(file: string, timeoutMs: number, grep: string | undefined): Promise<void> {
  const environment = { ...process.env };
  const folder = process.cwd();
  const url = pathToFileURL(file).href;
  const before = processorSeconds();
  let counts = {};
  const options = { timeout: timeoutMs, ...(grep === undefined ? {} : { grep: [grep] }) };
  await root.test(file, options, async (t) => {
    roots.set(url, t);
    counts = t.counts;
    extendRequestTime();
    await import(url);
    process.send?.({ timeoutMs: t.options.timeout ?? 0 } satisfies FromProcess);
  });
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
  process.channel?.ref(); // tap lets the process end without it
  // Not a comment of tap, which would hold it until the next line.
  while (root.bufferLength > 0) await once(process.stdout, 'drain');
  const processor = processorSeconds() - before;
  process.stdout.write(`# ${COUNTS}${JSON.stringify({ ...counts, processor })}\n`);
}

/** Lets the process end on its own; what keeps it alive then was left open by a test. */
async function end(): Promise<void> {
  process.off('disconnect', exit);
  await endProcess();
  process.disconnect?.();
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ');
    console.error(`Not ended by their test files: ${open}`);
    process.exit(1);
  }, ENDS_WITHIN_MS).unref();
}

const exit = () => process.exit(1);
process.once('disconnect', exit); // the runner has died
process.on('message', (message: ToProcess) => {
  if ('end' in message) void end();
  else void run(relative('', message.file), message.timeoutMs, message.grep);
});
process.send?.({ ready: true } satisfies FromProcess);
