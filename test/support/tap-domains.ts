// Gives tap another implementation of `async-hook-domain`, by which it knows the test of an error that nothing catches.
// The original follows each promise with hooks of `node:async_hooks`, which slows every `await` and
// every garbage collection; the context of `AsyncLocalStorage` reaches the same callbacks for almost nothing.

import { registerHooks } from 'node:module';

const { href } = new URL('./async-domain.ts', import.meta.url);

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'async-hook-domain'
      ? { url: href, shortCircuit: true }
      : next(specifier, context),
});
