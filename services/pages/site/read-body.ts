import type { Reader } from '../../../platform/http/reader.ts';
import type { Contract } from '../../../platform/http/route.ts';
import type { Body } from './view.ts';

/** Runs a read operation of a contract as an anonymous caller, and returns its body. */
export function readBody<C extends Contract, Id extends keyof C & string>(
  reader: Reader,
  _contract: C,
  id: Id,
  input: Parameters<Reader['read']>[1] = {},
): Promise<Body<C, Id>> {
  return reader.read(id, input) as Promise<Body<C, Id>>;
}
