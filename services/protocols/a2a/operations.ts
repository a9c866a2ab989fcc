import type { Input, Operation, Operations } from '../../../platform/http/invoke.ts';
import { type Issue, MAX_ISSUES } from '../../../platform/http/issues.ts';
import { withoutKeys } from '../../../platform/http/problems.ts';
import { isMutation, type Route } from '../../../platform/http/route.ts';
import type { Json, JsonObject } from '../../../platform/http/strict-json.ts';
import { A2aFault } from './fault.ts';

/** Operations that manage credentials, or export or delete an account, exist only over HTTP. */
const KEPT_OUT = new Set([
  'credential.bootstrap',
  'credential.rotate',
  'credential.revoke',
  'account.export',
  'account.delete',
]);

/** The operations that a message can request: those of a bearer, and anonymous reads in JSON. */
export function offeredOperations(operations: Operations): Operations {
  return new Map(
    [...operations].filter(([id, { route }]) => !KEPT_OUT.has(id) && isOffered(route)),
  );
}

function isOffered(route: Route): boolean {
  const { access, path, tag } = route;
  if (tag === 'agents' || tag === 'operations') return false;
  if (access === 'bearer' || (typeof access === 'object' && 'scope' in access))
    return path.startsWith('/api/v1/');
  return access === 'public' && !isMutation(route) && route.replies[200]?.body !== undefined;
}

/** A one-line summary of an operation, for people and models. */
export function operationSummary({ id, route }: Operation) {
  const { access } = route;
  return {
    operation: id,
    summary: route.summary,
    writes: isMutation(route),
    ...(typeof access === 'object' && 'scope' in access ? { scope: access.scope } : {}),
  };
}

/** Splits one flat object into path, query and body fields, whose names never collide. */
export function operationInput(route: Route, flat: JsonObject): Input {
  const input: Input = { params: {}, query: {}, body: route.body ? {} : undefined };
  const issues: Issue[] = [];
  for (const [name, value] of Object.entries(flat)) {
    if (issues.length === MAX_ISSUES) break;
    const place = Object.hasOwn(route.params?.shape ?? {}, name)
      ? input.params
      : Object.hasOwn(route.query?.shape ?? {}, name)
        ? input.query
        : undefined;
    if (place) {
      const text = textOf(value);
      if (text === undefined) issues.push({ path: name, message: 'must be a string or a number' });
      else place[name] = text;
    } else if (input.body) input.body[name] = value;
    else issues.push({ path: withoutKeys(name).slice(0, 100), message: 'is not a known field' });
  }
  if (issues.length > 0) throw new A2aFault('INVALID_PARAMS', undefined, issues);
  return input;
}

function textOf(value: Json): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : undefined;
}
