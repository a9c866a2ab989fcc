// The public interface of the package. The code of the repository imports the files themselves.

export type { Keeper, Session as SavedSession } from './bearer.ts';
export { type Answer, Call, Listing } from './call.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { type Identity, newIdentity, newKey } from './identity.ts';
export type { CallOptions } from './operation.ts';
export { contentHash, PUBLIC } from './resources.ts';
export type * from './schema.ts';
export {
  NoAnswerError,
  ProblemError,
  type RequestHook,
  type ResponseHook,
  UnreadableReplyError,
} from './send.ts';
export type { Reset, UpdatesOptions } from './updates.ts';
export type { ProblemBody } from './wire.ts';
