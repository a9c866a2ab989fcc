import { Problem } from '../../../platform/http/problems.ts';
import { Uuid } from '../../../platform/http/schemas.ts';

/** Fails as for a record that does not exist. */
export function missing(): never {
  throw new Problem('not_found');
}

/** The id in an address. Fails as for a record that does not exist if it is no id. */
export function recordId(given: string): string {
  return Uuid.safeParse(given).data ?? missing();
}
