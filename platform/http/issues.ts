import { z } from 'zod';
import { withoutKeys } from './problems.ts';

/** One invalid field of a request. */
export interface Issue {
  /** Dotted path; empty for the request as a whole. */
  path: string;
  /** A predicate that follows the field's name: "must be an integer". */
  message: string;
}

/** The issues of a problem; none if it is about something else. */
export const issuesOf = (details: Readonly<Record<string, unknown>>): readonly Issue[] =>
  (details.issues ?? []) as readonly Issue[];

/** Maximum number of issues in a response; enough to correct a request. */
export const MAX_ISSUES = 20;
const MAX_PATH_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 600;

const MISSING = 'is required';
const UNKNOWN = 'is not a known field';

type FoundIssue = z.core.$ZodIssue;

// Sets one wording for every transport, for the whole process: the MCP library validates the
// arguments of tools itself, so the wording cannot be passed to each call.
z.config({ customError: describeIssue });

/** Returns the issues of a failed validation, at most 20, with one issue for each unknown field. */
export function toIssues(error: z.ZodError): Issue[] {
  const issues: Issue[] = [];
  for (const issue of flatten(error.issues)) {
    if (issues.length === MAX_ISSUES) break;
    issues.push({
      path: withoutKeys(issue.path.map(String).join('.')).slice(0, MAX_PATH_LENGTH),
      message: withoutKeys(issue.message).slice(0, MAX_MESSAGE_LENGTH),
    });
  }
  return issues;
}

type Located = Pick<FoundIssue, 'path' | 'message'>;

function* flatten(
  issues: readonly FoundIssue[],
  parent: readonly PropertyKey[] = [],
): Generator<Located> {
  for (const issue of issues) {
    const path = [...parent, ...issue.path];
    const branch = issue.code === 'invalid_union' ? meantBranch(issue.errors) : undefined;
    if (branch) yield* flatten(branch, path);
    else if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys) yield { path: [...path, key], message: UNKNOWN };
    else if (issue.code === 'invalid_key')
      for (const { message } of issue.issues) yield { path, message: `has a name that ${message}` };
    else yield { path, message: issue.message };
  }
}

/**
 * Returns the union branch whose required fields are all present, if exactly one branch qualifies.
 */
function meantBranch(branches: FoundIssue[][]): FoundIssue[] | undefined {
  const present = branches.filter((issues) =>
    issues.every(({ path, message }) => path.length > 0 && message !== MISSING),
  );
  return present.length === 1 ? present[0] : undefined;
}

/** The service's wording for zod's issues; a message in the schema takes precedence. */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? MISSING : `must be ${typeName(issue)}`;
    case 'too_small':
      return `must ${size(issue.origin, issue.exact ? 'exactly' : 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${size(issue.origin, issue.exact ? 'exactly' : 'at most', issue.maximum)}`;
    case 'invalid_value':
      return issue.input === undefined ? MISSING : oneOf(issue.values ?? []);
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys?.join(', ')}`;
    case 'invalid_union':
      return describeUnion(issue);
    case 'invalid_format':
      return `must be ${FORMATS[issue.format ?? ''] ?? 'written in the required format'}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_key':
      return 'has an invalid name';
    default:
      return 'is not valid';
  }
}

function typeName({ expected, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  const { format } = (inst?._zod.def ?? {}) as { format?: string };
  if (expected === 'number' && format?.includes('int')) return 'an integer';
  return TYPES[expected] ?? `of the type ${expected}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  datetime: 'an ISO 8601 time with its offset, such as 2026-09-12T08:30:00Z',
};

/** "have at least 1 item", "be at most 50". */
function size(origin: string | undefined, bound: string, count: unknown): string {
  const unit = UNITS[origin ?? ''];
  return unit
    ? `have ${bound} ${count} ${unit}${Number(count) === 1 ? '' : 's'}`
    : `be ${bound} ${count}`;
}

const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
};

function oneOf(values: readonly unknown[]): string {
  const [only] = values;
  if (values.length === 1) return only === '' ? 'must be empty' : `must be ${only}`;
  return `must be one of: ${values.join(', ')}`;
}

function describeUnion(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if ('discriminator' in issue && 'options' in issue) {
    const given = (issue.input ?? {}) as Record<string, unknown>;
    return given[String(issue.discriminator)] === undefined
      ? `${MISSING}, ${oneOf(issue.options as unknown[])}`
      : oneOf(issue.options as unknown[]);
  }
  const literals = (issue.errors ?? []).flat();
  return literals.every(({ code }) => code === 'invalid_value')
    ? oneOf(literals.flatMap((literal) => ('values' in literal ? literal.values : [])))
    : 'does not match any accepted form';
}
