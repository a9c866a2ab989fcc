import type { z } from 'zod';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import { issuesOf } from './issues.ts';
import type { Principal } from './principal.ts';
import { Problem, type ProblemCode } from './problems.ts';
import type { AnyReply, Call, Feature, Handler, RequestFacts, Route } from './route.ts';
import type { JsonObject } from './strict-json.ts';

/** An operation by its id: its row and its handler. */
export interface Operation {
  id: string;
  route: Route;
  handler: Handler<Route>;
}

export type Operations = ReadonlyMap<string, Operation>;

export function operationsOf(features: readonly Feature[]): Operations {
  const operations = new Map<string, Operation>();
  for (const { contract, handlers } of features) {
    for (const [id, route] of Object.entries(contract)) {
      if (operations.has(id)) throw new Error(`Operation ${id} is defined twice`);
      operations.set(id, { id, route, handler: handlers[id] as Handler<Route> });
    }
  }
  return operations;
}

export interface Input {
  params: Record<string, string>;
  query: Record<string, string>;
  /** Undefined where the route takes none. */
  body: JsonObject | undefined;
}

/** Who may call; called by a transport before it reads a body, and by `invoke` in any case. */
export function authorise(route: Route, principal: Principal): Refusal<ProblemCode> | null {
  const { access } = route;
  if (access === 'public' || access === 'session?') return null;
  if (access === 'session') return principal.kind === 'session' ? null : refuse('session_required');
  if (typeof access === 'object' && 'roles' in access) {
    if (principal.kind !== 'moderator') return refuse('moderator_required');
    return access.roles.includes(principal.role)
      ? null
      : refuse('role_required', { roles: access.roles });
  }
  if (principal.kind !== 'credential') return refuse('credential_required');
  if (access === 'bearer' || principal.scopes.includes(access.scope)) return null;
  return refuse('scope_required', { scope: access.scope });
}

/**
 * One operation for one principal, whatever the transport: authorise, validate, handle.
 * Throws `Problem` for input that does not fit.
 */
export async function invoke(
  operation: Operation,
  principal: Principal,
  input: Input,
  request: RequestFacts,
): Promise<AnyReply | Refusal<ProblemCode>> {
  const { id, route, handler } = operation;
  const refused = authorise(route, principal);
  if (refused) return refused;
  const call = {
    operation: id,
    route,
    params: parse(route.params, input.params),
    query: parse(route.query, input.query),
    body: parse(route.body, input.body),
    sent: input.body ?? {},
    principal,
    request,
  } as unknown as Call;
  const outcome = await handler(call);
  return isRefusal(outcome) ? (outcome as Refusal<ProblemCode>) : (outcome as AnyReply);
}

/** A row that speaks a protocol of its own: it reads the request itself, and never refuses. */
export async function converse(
  { id, route, handler }: Operation,
  request: RequestFacts,
): Promise<AnyReply> {
  const principal: Principal = { kind: 'anonymous' };
  return (await handler({
    operation: id,
    route,
    principal,
    request,
  } as unknown as Call)) as AnyReply;
}

function parse(schema: z.ZodType | undefined, value: unknown): unknown {
  return schema && validate(schema, value);
}

/** The value as the schema reads it; throws a `Problem` with the issues where it does not fit. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Problem('invalid_request', { issues: issuesOf(result.error) });
}
