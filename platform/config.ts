import { resolve } from 'node:path';
import { z } from 'zod';
import { baseUrl, isLoopback, usualHost } from './base-url.ts';
import { parseServerKeys, SERVER_KEYS_FORM } from './keys/server-keys.ts';

const number = (least: number, most: number) =>
  z
    .string()
    .refine(
      (text) => /^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most,
      `must be a whole number from ${least} to ${most}`,
    )
    .transform(Number);

const whole = (least: number, most: number, fallback: number) =>
  number(least, most).prefault(String(fallback));
const limit = (fallback: number) => whole(0, 1_000_000_000, fallback);

const flag = (fallback: 'true' | 'false') =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default(fallback)
    .transform((text) => text === 'true');

const flagOnOff = (fallback: 'on' | 'off') =>
  z
    .enum(['on', 'off'], { error: 'must be on or off' })
    .default(fallback)
    .transform((text) => text === 'on');

const postgresUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^postgres(ql)?:\/\/[^/]*(\/.|[^/])/i.test(text),
    'must be an address of the form postgres://user:password@host:port/database',
  )
  .optional();

const Environment = z.object({
  // Commands find the running instance by its data folder.
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((text) => resolve(text)),
  DATABASE_URL: postgresUrl,
  DATABASE_DIRECT_URL: postgresUrl,
  DATABASE_READ_URL: postgresUrl,
  DATABASE_POOL_SIZE: whole(1, 1000, 10),
  PORT: whole(0, 65_535, 3000),
  HOST: z.string().optional(),
  BASE_URL: baseUrl,
  SERVER_KEYS: z
    .string()
    .refine((text) => parseServerKeys(text) !== undefined, SERVER_KEYS_FORM)
    .optional(),
  MEMBERSHIP_OPEN: flag('true'),
  GUESTBOOK_OPEN: flag('true'),
  A2A_ENABLED: flag('true'),
  API_OPEN: flag('true'),
  UNDO_WINDOW_SECONDS: whole(0, 86_400, 600),
  // If on, commands that arrive together share a transaction; if off, each has a separate one.
  GROUP_COMMIT: flagOnOff('on'),
  // If true, the service approves notes of members with a good record without a moderator.
  FAST_LANE: flag('false'),
  TRUSTED_PROXIES: whole(0, 100, 0),
  LIMIT_KEY_ATTEMPTS: limit(20),
  LIMIT_BOOTSTRAP_ATTEMPTS: limit(20),
  LIMIT_REGISTRATIONS_PER_DAY: limit(3),
  LIMIT_MEMBERS: limit(1000),
  LIMIT_ACTIVE_CREDENTIALS: limit(10),
  LIMIT_WRITES_PER_DAY: limit(200),
  LIMIT_NOTES_PER_TEN_MINUTES: limit(10),
  LIMIT_NOTES_PER_DAY: limit(50),
  LIMIT_MCP_REQUESTS: limit(600),
  // Concurrent long polls and streams: of one credential or moderator, and in total in one web
  // process.
  LIMIT_WAITING_PER_CREDENTIAL: limit(20),
  LIMIT_WAITING: limit(5000),
  // Per web process; it closes further connections without a response.
  MAX_CONNECTIONS: whole(1, 1_000_000, 10_000),
  RETENTION_REJECTED_DAYS: whole(1, 36_500, 90),
  RETENTION_WITHDRAWN_DAYS: whole(1, 36_500, 7),
  RETENTION_ADDRESS_KEYS_HOURS: whole(1, 876_000, 48),
  // Contact for vulnerability reports in /.well-known/security.txt. A public service has no
  // default, because only the operator knows the address.
  SECURITY_CONTACT: z
    .string()
    .refine(
      (text) => /^(mailto:[^\s@]+@[^\s@]+|tel:\+?[\d-]+|https:\/\/\S+)$/.test(text),
      'must be an address of the form mailto:…, https://… or tel:…',
    )
    .optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be one of trace, debug, info, warn, error, fatal, silent',
    })
    .default('info'),
  METRICS_HOST: z.string().default('127.0.0.1'),
  // 0 turns metrics off. The web process serves them on PORT + 1000 by default. A worker needs an
  // explicit port, because several workers usually share a machine.
  METRICS_PORT: number(0, 65_535).optional(),
  WORKER_METRICS_PORT: whole(0, 65_535, 0),
});

const Settings = Environment.transform((env) => {
  const base = env.BASE_URL ?? `http://localhost:${env.PORT}`;
  const usual = env.PORT > 0 && env.PORT + 1000 <= 65_535 ? env.PORT + 1000 : 0;
  return {
    ...env,
    BASE_URL: base,
    HOST: env.HOST ?? usualHost(base),
    DATABASE_DIRECT_URL: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL,
    SERVER_KEYS: env.SERVER_KEYS === undefined ? undefined : parseServerKeys(env.SERVER_KEYS),
    METRICS_PORT: env.METRICS_PORT ?? usual,
    // On loopback, the RFC 2142 mailbox of this machine.
    SECURITY_CONTACT:
      env.SECURITY_CONTACT ?? (isLoopback(base) ? 'mailto:security@localhost' : undefined),
  };
});

type Settings = z.output<typeof Settings>;
type Camel<Name> = Name extends `${infer Head}_${infer Rest}`
  ? `${Lowercase<Head>}${Capitals<Rest>}`
  : Name extends string
    ? Lowercase<Name>
    : never;
type Capitals<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Capitalize<Lowercase<Head>>}${Capitals<Rest>}`
  : Capitalize<Lowercase<Name>>;
/** The settings in camel case: `DATABASE_URL` is `databaseUrl`. */
export type Config = Readonly<{ [Name in keyof Settings as Camel<Name>]: Settings[Name] }>;

/** The environment is invalid; `faults` has one line for each problem. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`The configuration has faults:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

// Not part of the schema: zod skips checks across fields if any field is invalid, but an operator
// should see every fault in one run.
function faultsBetween(given: Record<string, string>): string[] {
  const faults = ['DATABASE_DIRECT_URL', 'DATABASE_READ_URL']
    .filter((name) => given[name] && !given.DATABASE_URL)
    .map((name) => `${name} needs DATABASE_URL beside it`);
  const base = given.BASE_URL;
  if (base && URL.canParse(base) && !isLoopback(base) && !given.SERVER_KEYS)
    faults.push(`SERVER_KEYS is required where BASE_URL is not loopback; it ${SERVER_KEYS_FORM}`);
  const metrics = Number(given.METRICS_PORT);
  if (metrics > 0 && metrics === Number(given.PORT ?? 3000))
    faults.push('METRICS_PORT must be another one than PORT');
  return faults;
}

/** Drops empty variables: compose files and shells use them for "not set". */
function givenIn(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) => (text?.trim() ? [[name, text.trim()]] : [])),
  );
}

/** Parses the environment. Throws `ConfigError`, which lists every fault. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = givenIn(env);
  const result = Settings.safeParse(given);
  const issues = result.error?.issues ?? [];
  const faults = issues.map(({ path, message }) => `${String(path[0])} ${message}`);
  faults.push(...faultsBetween(given));
  if (!result.success || faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(
    Object.fromEntries(Object.entries(result.data).map(([name, value]) => [camel(name), value])),
  ) as Config;
}

/** Reads an entry point's configuration. If it is invalid, prints its faults and exits with 1. */
export function configOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const ClientEnvironment = Environment.pick({ BASE_URL: true, PORT: true }).extend({
  MODERATOR_TOKEN: z.string().optional(),
});

/**
 * Reads the settings of commands that are clients of a running service; such commands need none of
 * the service's own settings. If a setting is invalid, prints the faults and exits with 1.
 */
export function clientSettingsOrExit(): { baseUrl: string; moderatorToken: string | undefined } {
  const result = ClientEnvironment.safeParse(givenIn(process.env));
  if (!result.success) {
    for (const { path, message } of result.error.issues)
      process.stderr.write(`${String(path[0])} ${message}\n`);
    process.exit(1);
  }
  const { BASE_URL, PORT, MODERATOR_TOKEN } = result.data;
  return {
    baseUrl: BASE_URL ?? `http://localhost:${PORT}`,
    moderatorToken: MODERATOR_TOKEN,
  };
}

/** The environment of this process with more variables, for a child process. */
export const environmentWith = (more: Record<string, string>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
});

const camel = (name: string) =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
