import type { Reader } from '../../../platform/http/reader.ts';
import type { Body, Operations } from './view.ts';

/** Runs a read operation as an anonymous caller, and returns its body. */
export const readBody = <Id extends keyof Operations & string>(
  reader: Reader,
  id: Id,
  input: Parameters<Reader['read']>[1] = {},
): Promise<Body<Operations, Id>> => reader.read(id, input) as Promise<Body<Operations, Id>>;
