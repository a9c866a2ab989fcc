import type { z } from 'zod';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import { toIssues } from './issues.ts';
import type { Principal } from './principal.ts';
import { Problem, type ProblemCode } from './problems.ts';
import {
  type AnyReply,
  type Call,
  type Handler,
  isDisabled,
  type RequestContext,
  type Route,
  type Routes,
} from './route.ts';
import type { JsonObject } from './strict-json.ts';

/** An operation: its id, route and handler. */
export interface Operation {
  id: string;
  route: Route;
  /** Every call is refused with `api_disabled`. */
  disabled: boolean;
  handler: Handler<Route>;
}

export type Operations = ReadonlyMap<string, Operation>;

/**
 * Indexes the operations of all capabilities by id, and marks those that the configuration disables.
 * Throws if an id is defined twice.
 */
export function indexOperations(
  routes: readonly Routes[],
  config: { apiOpen: boolean },
): Operations {
  const operations = new Map<string, Operation>();
  for (const { contract, handlers } of routes) {
    for (const [id, route] of Object.entries(contract)) {
      if (operations.has(id)) throw new Error(`Operation ${id} is defined twice`);
      const handler = handlers[id] as Handler<Route>;
      operations.set(id, { id, route, disabled: isDisabled(route, config), handler });
    }
  }
  return operations;
}

export interface Input {
  params: Record<string, string>;
  query: Record<string, string>;
  /** Undefined if the route takes no body. */
  body: JsonObject | undefined;
}

/**
 * Checks whether a principal may call an operation, and then whether it is enabled; returns the
 * refusal, or null. A transport calls this before it reads a body; `invoke` always does.
 */
export function authorise(
  { route, disabled }: Operation,
  principal: Principal,
): Refusal<ProblemCode> | null {
  return checkAccess(route, principal) ?? (disabled ? refuse('api_disabled') : null);
}

function checkAccess({ access }: Route, principal: Principal): Refusal<ProblemCode> | null {
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
 * Runs an operation for a principal, for any transport: authorises, validates, calls the handler.
 * Returns the reply or the refusal; throws `Problem` for invalid input.
 */
export async function invoke(
  operation: Operation,
  principal: Principal,
  input: Input,
  request: RequestContext,
): Promise<AnyReply | Refusal<ProblemCode>> {
  const { id, route, handler } = operation;
  const refused = authorise(operation, principal);
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

/** Runs an operation with `transport`: its handler reads the request itself and never refuses. */
export async function converse(
  { id, route, handler }: Operation,
  request: RequestContext,
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

/** Parses a value with a schema. Throws a `Problem` with the issues if the value does not match. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Problem('invalid_request', { issues: toIssues(result.error) });
}
