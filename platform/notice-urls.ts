import { z } from 'zod';
import { parseCalledUrl } from './base-url.ts';

/** How a receiver wants its notices: Standard Webhooks, ntfy, or the text of a Slack or Matrix hook. */
const SHAPES = ['standard', 'ntfy', 'slack', 'matrix'] as const;
export type NoticeShape = (typeof SHAPES)[number];

export interface NoticeTarget {
  url: URL;
  shape: NoticeShape;
  secret: Buffer;
}

const NOTICE_URL_FORM =
  'must be addresses of the form https://… or SHAPE+https://… (ntfy, slack, matrix), without user and ' +
  'fragment, separated by commas; http:// only on loopback';
const NOTICE_SECRET_FORM =
  'must have one secret of the form whsec_BASE64 (24 to 64 bytes) for each address of NOTIFY_URLS, ' +
  'separated by commas';

const parts = (text: string): string[] => text.split(',').map((part) => part.trim());

/** Parses `NOTIFY_URLS`; undefined if an address is not allowed. */
function parseNoticeUrls(text: string): Omit<NoticeTarget, 'secret'>[] | undefined {
  const targets = parts(text).map(parseTarget);
  return targets.every((target) => target !== undefined) ? targets : undefined;
}

function parseTarget(text: string): Omit<NoticeTarget, 'secret'> | undefined {
  const [, shape = 'standard', address = ''] = /^(?:([a-z]+)\+)?(https?:\/\/\S+)$/.exec(text) ?? [];
  const url = parseCalledUrl(address);
  const known = SHAPES.find((name) => name === shape);
  return url && known ? { url, shape: known } : undefined;
}

/** Parses `NOTIFY_SECRETS`; undefined if one has another form. */
function parseNoticeSecrets(text: string): Buffer[] | undefined {
  const secrets = parts(text).map((part) => {
    const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(part) ?? [];
    return Buffer.from(encoded, 'base64');
  });
  return secrets.every(({ length }) => length >= 24 && length <= 64) ? secrets : undefined;
}

/** The settings of the notices to the operator. */
export const noticeSettings = {
  NOTIFY_URLS: z
    .string()
    .refine((text) => parseNoticeUrls(text) !== undefined, NOTICE_URL_FORM)
    .meta({
      form: '`https://…`, `ntfy+https://…`, `slack+https://…` or `matrix+https://…`, several separated by commas',
    })
    .optional()
    .describe(
      'Addresses that are called when moderators or the operator are needed ([Notices](../operating/notices.md)). None by default.',
    ),
  NOTIFY_SECRETS: z
    .string()
    .refine((text) => parseNoticeSecrets(text) !== undefined, NOTICE_SECRET_FORM)
    .meta({
      form: '`whsec_` and Base64, one for each address of `NOTIFY_URLS`, separated by commas',
    })
    .optional()
    .describe('Secrets under which the calls are signed, as Standard Webhooks.'),
  NOTIFY_PRIVATE_HOSTS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((host) => host.trim().toLowerCase())
        .filter(Boolean),
    )
    .meta({ form: 'names or addresses, separated by commas' })
    .describe(
      'Hosts of `NOTIFY_URLS` that may have a private, link-local or otherwise special address. Other such hosts are not called.',
    ),
};

/** The addresses with their secrets; `noticeSecretsFault` names another number of secrets. */
export function noticeTargets(urls = '', secrets = ''): NoticeTarget[] {
  const keys = (secrets && parseNoticeSecrets(secrets)) || [];
  return ((urls && parseNoticeUrls(urls)) || []).flatMap((target, index) => {
    const secret = keys[index];
    return secret ? [{ ...target, secret }] : [];
  });
}

/** A fault between both settings: each address needs a secret. */
export function noticeSecretsFault(given: Readonly<Record<string, string>>): string | undefined {
  const [urls, secrets] = [given.NOTIFY_URLS, given.NOTIFY_SECRETS].map(
    (text) => text?.split(',').length ?? 0,
  );
  return urls === secrets ? undefined : `NOTIFY_SECRETS ${NOTICE_SECRET_FORM}`;
}
