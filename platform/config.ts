import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { baseUrl, isLoopback, usualHost } from './base-url.ts';
import { parseServerKeys, SERVER_KEYS_FORM } from './keys/server-keys.ts';
import { logWitnesses, parseSealKeys, provingSettings, sealSettings } from './log-settings.ts';
import { noticeSecretsFault, noticeSettings, noticeTargets } from './notice-urls.ts';
import { addressesOf, tlsFault, tlsFaultOfEnvironment } from './postgres/addresses.ts';
import { inSandbox, sandboxSettings } from './sandbox-settings.ts';
import { hasVisibleText } from './visible-text.ts';

const number = (min: number, max: number) => {
  const form = `a whole number from ${min} to ${max}`;
  return z
    .string()
    .refine(
      (text) => /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `must be ${form}`,
    )
    .transform(Number)
    .meta({ form });
};

const whole = (min: number, max: number, fallback: number) =>
  number(min, max).prefault(String(fallback));
const limit = (fallback: number) => whole(0, 1_000_000_000, fallback);

const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) => {
  const form = words.length === 2 ? words.join(' or ') : `one of ${words.join(', ')}`;
  return z.enum(words, { error: `must be ${form}` }).meta({ form });
};
const flag = (fallback: 'true' | 'false') =>
  oneOf(['true', 'false'])
    .default(fallback)
    .transform((text) => text === 'true');

/** A text for people in one line. */
const line = (max: number) =>
  z
    .string()
    .refine(
      (text) => [...text].length <= max && !/\p{Cc}/u.test(text) && hasVisibleText(text),
      `must be one line of at most ${max} characters`,
    )
    .meta({ form: `one line, at most ${max} characters` });

/** Whether each host of the address is well-formed; only a single one may be left out, for a socket. */
function isPostgresUrl(text: string): boolean {
  const addresses = addressesOf(text);
  return addresses.every(
    (address) =>
      URL.canParse(address) &&
      /^postgres(ql)?:\/\/[^/]*(\/.|[^/])/i.test(address) &&
      (addresses.length === 1 || new URL(address).hostname !== ''),
  );
}

const postgresUrl = z
  .string()
  .refine(
    isPostgresUrl,
    'must be an address of the form postgres://user:password@host:port/database',
  )
  .superRefine((text, context) => {
    const message = tlsFault(text);
    if (message) context.addIssue({ code: 'custom', message });
  })
  .meta({ form: 'postgres://user:password@host:port/database' })
  .optional();

/**
 * Every variable, with its form, default and description. docs/reference/configuration.md is
 * generated from it (`npm run docs`).
 */
export const Environment = z.object({
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((text) => resolve(text))
    .describe(
      'The folder of the embedded PostgreSQL and of server keys that were generated. Commands with the same value find the running instance.',
    ),
  DATABASE_URL: postgresUrl.describe(
    'PostgreSQL 15 to 18, encoded in UTF8. Of several hosts (`host1:port,host2:port`), the one that accepts writes is used. Without it, `npm start` starts an embedded server.',
  ),
  DATABASE_DIRECT_URL: postgresUrl.describe(
    'A direct connection for migrations, jobs and notifications, where `DATABASE_URL` leads through a transaction pooler. Same as `DATABASE_URL` by default.',
  ),
  DATABASE_READ_URL: postgresUrl.describe(
    'A read replica for anonymous reads, or several hosts (`host1:port,host2:port`) that share them. None by default.',
  ),
  REPLICA_MAX_LAG_SECONDS: whole(1, 3600, 10).describe(
    'Lag of the read replica beyond which anonymous reads go to the primary.',
  ),
  DATABASE_POOL_SIZE: whole(1, 1000, 10).describe(
    'Largest number of connections in each pool of a process.',
  ),
  PORT: whole(0, 65_535, 3000).describe('Port of the web process; 0 takes a free one.'),
  HOST: z
    .string()
    .optional()
    .describe(
      'Address to listen on. By default the loopback address if `BASE_URL` is on loopback, else every IPv4 address (`::` includes IPv6).',
    ),
  BASE_URL: baseUrl.describe(
    'Public address of the service, which the `Origin` of writes must equal. `http://localhost:$PORT` by default.',
  ),
  SERVER_KEYS: z
    .string()
    .refine((text) => parseServerKeys(text) !== undefined, SERVER_KEYS_FORM)
    .meta({ form: '`id:64 hex digits`, several separated by commas, newest first' })
    .optional()
    .describe(
      'Server keys, under which keys of members and addresses are hashed. Required unless `BASE_URL` is on loopback, where one is generated in `DATA_DIR`.',
    ),
  ...sealSettings,
  SITE_NAME: line(40).default('Guestbook').describe('The name of the site, on every page.'),
  SITE_ABOUT: line(200)
    .default('People and programs leave notes here. A moderator reads each before it appears.')
    .describe('What the site is, on the guestbooks.'),
  SITE_ABOUT_SERVICE: line(200)
    .default('About this place.')
    .describe('What the guestbook Service is about.'),
  SITE_ABOUT_OBSERVATORY: line(200)
    .default('What was observed.')
    .describe('What the guestbook Observatory is about.'),
  SITE_ABOUT_TWO_CLERKS: line(200)
    .default('For the two clerks.')
    .describe('What the guestbook Two Clerks is about.'),
  MEMBERSHIP_OPEN: flag('true').describe('Whether new members can register.'),
  GUESTBOOK_OPEN: flag('true').describe('Whether the guestbook accepts new notes.'),
  ...sandboxSettings,
  ...provingSettings,
  A2A_ENABLED: flag('true').describe('Whether `POST /a2a` and the agent card exist.'),
  MCP_SERVER_CARD: flag('false').describe(
    'Whether `GET /mcp/server-card` exists, the MCP server card of SEP-2127. Its format is experimental.',
  ),
  API_OPEN: flag('true').describe(
    'Whether profiles, artifacts, cases, reports, activity and search are open; otherwise their routes answer 503 `api_disabled`.',
  ),
  UNDO_WINDOW_SECONDS: whole(0, 86_400, 600).describe(
    "Seconds in which a moderator's decision can be undone, and after which members are notified of it.",
  ),
  GROUP_COMMIT: oneOf(['on', 'off'])
    .default('on')
    .transform((text) => text === 'on')
    .describe(
      'Whether commands that arrive together share a transaction. The results are the same either way.',
    ),
  FAST_LANE: flag('false').describe(
    'Whether the service approves notes without findings by members with a good record.',
  ),
  TRUSTED_PROXIES: whole(0, 100, 0).describe(
    'Number of reverse proxies in front, whose `X-Forwarded-For` entries are trusted.',
  ),
  LIMIT_KEY_ATTEMPTS: limit(20).describe(
    'Attempts of an address to sign in or to recover an account in ten minutes.',
  ),
  LIMIT_BOOTSTRAP_ATTEMPTS: limit(20).describe(
    'Attempts of an address to create a credential with a sign-in key in ten minutes.',
  ),
  LIMIT_REGISTRATIONS_PER_DAY: limit(3).describe('Registrations of an address in a day.'),
  LIMIT_REGISTRATIONS_PER_HOUR: limit(500).describe('Registrations of all addresses in an hour.'),
  LIMIT_MEMBERS: limit(1000).describe('Active members.'),
  LIMIT_ACTIVE_CREDENTIALS: limit(10).describe('Active credentials of a member.'),
  LIMIT_WRITES_PER_DAY: limit(200).describe('Writes of a member through `/api/v1` in a UTC day.'),
  LIMIT_NOTES_PER_TEN_MINUTES: limit(10).describe('Guestbook notes of an address in ten minutes.'),
  LIMIT_NOTES_PER_DAY: limit(50).describe('Guestbook notes of an address in a day.'),
  LIMIT_GUEST_NOTES_PER_HOUR: limit(2000).describe('Guestbook notes of all guests in an hour.'),
  LIMIT_MCP_REQUESTS: limit(600).describe('MCP requests of an address in ten minutes.'),
  LIMIT_WAITING_PER_CREDENTIAL: limit(20).describe(
    'Long polls of a credential, or streams of a moderator, that a web process holds open at one time; further ones get 429 `rate_limited`.',
  ),
  LIMIT_WAITING: limit(5000).describe(
    'The same for all credentials of a web process, and again for all moderators; beyond it, updates are answered without waiting and streams are refused.',
  ),
  MAX_CONNECTIONS: whole(1, 1_000_000, 10_000).describe(
    'Connections of a web process; further ones are closed without an answer.',
  ),
  DRAIN_DELAY_SECONDS: whole(0, 300, 0).describe(
    'Seconds in which a web process that was told to stop is not ready, but still accepts connections, so that a load balancer can notice.',
  ),
  RETENTION_REJECTED_DAYS: whole(1, 36_500, 90).describe(
    'Days after which the texts of rejected and removed notes are erased.',
  ),
  RETENTION_WITHDRAWN_DAYS: whole(1, 36_500, 7).describe(
    'Days after which the texts of withdrawn notes are erased.',
  ),
  RETENTION_SESSIONS_DAYS: whole(1, 36_500, 30).describe(
    'Days after which sessions that have ended are deleted.',
  ),
  RETENTION_ADDRESS_KEYS_HOURS: whole(1, 876_000, 48).describe(
    'Hours after which counters of addresses are deleted.',
  ),
  // A public service has no default, because only the operator knows the address.
  SECURITY_CONTACT: z
    .string()
    .refine(
      (text) => /^(mailto:[^\s@]+@[^\s@]+|tel:\+?[\d-]+|https:\/\/\S+)$/.test(text),
      'must be an address of the form mailto:…, https://… or tel:…',
    )
    .meta({ form: '`mailto:…`, `https://…` or `tel:…`' })
    .optional()
    .describe(
      'Contact for vulnerability reports in `/.well-known/security.txt`. `mailto:security@localhost` on loopback, elsewhere none by default.',
    ),
  ...noticeSettings,
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Lowest level of log lines that are written.'),
  METRICS_HOST: z.string().default('127.0.0.1').describe('Address on which metrics are served.'),
  METRICS_PORT: number(0, 65_535)
    .optional()
    .describe(
      'Port of `GET /metrics` and `GET /operate` of the web process; 0 turns it off. `PORT` + 1000 by default.',
    ),
  // Several workers usually share a machine, so there is no default port.
  WORKER_METRICS_PORT: whole(0, 65_535, 0).describe(
    'Port of `GET /metrics` and `GET /operate` of a worker; 0 turns it off.',
  ),
});

const Settings = Environment.transform((env) => {
  const base = env.BASE_URL ?? `http://localhost:${env.PORT}`;
  const usual = env.PORT > 0 && env.PORT + 1000 <= 65_535 ? env.PORT + 1000 : 0;
  return {
    ...env,
    ...(env.SANDBOX ? inSandbox(env) : {}),
    BASE_URL: base,
    HOST: env.HOST ?? usualHost(base),
    DATABASE_DIRECT_URL: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL,
    SERVER_KEYS: env.SERVER_KEYS === undefined ? undefined : parseServerKeys(env.SERVER_KEYS),
    SEAL_KEY: env.SEAL_KEY === undefined ? undefined : parseSealKeys(env.SEAL_KEY),
    LOG_WITNESSES: logWitnesses(env.LOG_WITNESSES),
    NOTIFY_URLS: noticeTargets(env.NOTIFY_URLS, env.NOTIFY_SECRETS),
    // Only as a part of the targets, so that nothing prints them.
    NOTIFY_SECRETS: undefined,
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
  const tls = tlsFaultOfEnvironment(given);
  if (tls) faults.push(tls);
  const secrets = noticeSecretsFault(given);
  if (secrets) faults.push(secrets);
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

/** Variables that name a file with the value of another, so that secrets stay out of the environment. */
export const SECRET_FILES = {
  SERVER_KEYS_FILE: 'SERVER_KEYS',
  SEAL_KEY_FILE: 'SEAL_KEY',
  DATABASE_URL_FILE: 'DATABASE_URL',
  DATABASE_DIRECT_URL_FILE: 'DATABASE_DIRECT_URL',
  DATABASE_READ_URL_FILE: 'DATABASE_READ_URL',
  NOTIFY_URLS_FILE: 'NOTIFY_URLS',
  NOTIFY_SECRETS_FILE: 'NOTIFY_SECRETS',
} as const;

/** Reads the settings that are given as files into `given`; returns the faults. */
function readFiles(given: Record<string, string>): string[] {
  return Object.entries(SECRET_FILES).flatMap(([fileName, name]) => {
    const file = given[fileName];
    if (!file) return [];
    if (given[name]) return [`${name} and ${fileName} are both set`];
    try {
      const text = readFileSync(file, 'utf8').trim();
      if (text === '') return [`${fileName} is empty`];
      given[name] = text;
      return [];
    } catch (error) {
      return [`${fileName} cannot be read: ${(error as NodeJS.ErrnoException).code}`];
    }
  });
}

/** Parses the environment. Throws `ConfigError`, which lists every fault. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = givenIn(env);
  const faults = readFiles(given);
  const result = Settings.safeParse(given);
  const issues = result.error?.issues ?? [];
  faults.push(...issues.map(({ path, message }) => `${String(path[0])} ${message}`));
  faults.push(...faultsBetween(given));
  if (!result.success || faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(
    Object.fromEntries(Object.entries(result.data).map(([name, value]) => [camel(name), value])),
  ) as Config;
}

/** The beginnings of names that no other program uses. */
const OWN_PREFIX = /^(?:LIMIT|RETENTION|DATABASE|METRICS|NOTIFY)_/;

/** Names that look like settings of the service and are none, such as a misspelt limit. */
export const unknownSettings = (env: Record<string, string | undefined>): string[] =>
  Object.keys(env).filter(
    (name) => OWN_PREFIX.test(name) && !(name in Environment.shape) && !(name in SECRET_FILES),
  );

/**
 * Reads an entry point's configuration. If it is invalid, prints its faults and exits with 1. Warns of
 * unknown settings.
 */
export function configOrExit(): Config {
  try {
    const config = readConfig(process.env);
    for (const name of unknownSettings(process.env))
      process.stderr.write(
        `${name} is no setting of the service: see docs/reference/configuration.md\n`,
      );
    return config;
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
