import type { z } from 'zod';
import type { Reader } from '../../../platform/http/reader.ts';
import type { Contract } from '../../../platform/http/route.ts';

type BodyOf<Route> = Route extends { replies: { 200: { body: infer B extends z.ZodType } } }
  ? z.output<B>
  : never;

/** Runs a read operation of a contract as an anonymous caller, and returns its body. */
export function readBody<C extends Contract, Id extends keyof C & string>(
  reader: Reader,
  _contract: C,
  id: Id,
  input: Parameters<Reader['read']>[1] = {},
): Promise<BodyOf<C[Id]>> {
  return reader.read(id, input) as Promise<BodyOf<C[Id]>>;
}
