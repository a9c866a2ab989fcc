import { createRequire } from 'node:module';

/** The version of this release. */
export const { version: RELEASE } = createRequire(import.meta.url)('../package.json') as {
  version: string;
};

/** The label of the wire contract, which every response has. */
export const CONTRACT_VERSION = 'service-api-2026-09-12';
