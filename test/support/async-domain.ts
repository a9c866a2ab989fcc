import { AsyncLocalStorage, executionAsyncResource } from 'node:async_hooks';

type OnError = (error: unknown, event: string) => void;
type Run = (
  work: (...args: unknown[]) => unknown,
  thisArg?: unknown,
  ...args: unknown[]
) => unknown;

const current = new AsyncLocalStorage<Domain>();
let root: Domain | undefined;

/**
 * What tap uses of the package `async-hook-domain`: errors that nothing catches go to the domain in whose asynchronous
 * context they are thrown, or to its nearest parent that is not destroyed.
 */
export class Domain {
  readonly onerror: OnError;
  readonly #parent: Domain | undefined;
  #destroyed = false;

  /** Constructed while the `AsyncResource` of its test runs, or without one for the whole process. */
  constructor(onError: OnError) {
    this.onerror = onError;
    this.#parent = current.getStore() ?? root;
    const resource = executionAsyncResource() as { runInAsyncScope?: Run };
    const run = resource.runInAsyncScope;
    if (!run) root ??= this;
    else
      resource.runInAsyncScope = (work, thisArg, ...args) =>
        run.call(resource, () => current.run(this, () => work.apply(thisArg, args)));
    listen();
  }

  destroy(): void {
    this.#destroyed = true;
  }

  /** This domain, or its nearest parent that is not destroyed. */
  alive(): Domain | undefined {
    return this.#destroyed ? this.#parent?.alive() : this;
  }
}

const hasHandler = (event: string): boolean => process.listenerCount(event) > 0;

/** Passes an error on; returns false if no domain takes it, or the code under test has a handler. */
function pass(error: unknown, event: string): boolean {
  if (process.hasUncaughtExceptionCaptureCallback() || hasHandler('uncaughtException'))
    return false;
  const domain = (current.getStore() ?? root)?.alive();
  domain?.onerror(error, event);
  return domain !== undefined;
}

let listens = false;

function listen(): void {
  if (listens) return;
  listens = true;
  process.on('uncaughtExceptionMonitor', (error, event) => {
    if (!pass(error, event)) return;
    // Called next, instead of the end of the process.
    process.setUncaughtExceptionCaptureCallback(() =>
      process.setUncaughtExceptionCaptureCallback(null),
    );
  });
  const { emit } = process;
  process.emit = ((event: string, ...args: unknown[]) =>
    event === 'unhandledRejection' && !hasHandler(event)
      ? pass(args[0], event)
      : Reflect.apply(emit, process, [event, ...args])) as typeof emit;
}
