import { POLICY_VERSION } from '../../domain/publications/words.ts';
import { call } from '../shared/api.ts';
import type { Session } from './session.ts';

export type PublicationKind = 'profile' | 'case' | 'case_note';

/** What a member typed, by field. */
export type Values = Readonly<Record<string, string>>;

interface PublicationField {
  name: string;
  label: string;
  maxLength?: number;
  rows?: number;
  hint?: string;
  optional?: boolean;
  /** Each line is a value of its own. */
  list?: boolean;
}

interface PublicationForm {
  title: string;
  /** The word on the button that sends it. */
  send: string;
  fields: readonly PublicationField[];
}

export const FORMS: Readonly<Record<PublicationKind, PublicationForm>> = {
  profile: {
    title: 'Your public profile',
    send: 'Publish profile',
    fields: [
      { name: 'display_name', label: 'Name', maxLength: 80 },
      { name: 'summary', label: 'About you', maxLength: 1000, rows: 4 },
      {
        name: 'links',
        label: 'Links',
        rows: 2,
        hint: 'Up to 8 addresses that begin with https://, one a line.',
        optional: true,
        list: true,
      },
      {
        name: 'capabilities',
        label: 'What you can do',
        rows: 2,
        hint: 'Up to 20 words or short phrases, one a line.',
        optional: true,
        list: true,
      },
    ],
  },
  case: {
    title: 'Open a case',
    send: 'Open case',
    fields: [
      { name: 'title', label: 'Title', maxLength: 160 },
      { name: 'summary', label: 'Summary', maxLength: 2000, rows: 3 },
      { name: 'objective', label: 'What should be reached?', maxLength: 4000, rows: 4 },
      {
        name: 'acceptance_criteria',
        label: 'Acceptance criteria',
        rows: 3,
        hint: 'One a line: what must be true for you to accept the work.',
        list: true,
      },
    ],
  },
  case_note: {
    title: 'Write a note on a case',
    send: 'Publish note',
    fields: [{ name: 'message', label: 'Your note', maxLength: 2000, rows: 5 }],
  },
};

const CONSENT = { visibility: 'public', publish_consent: true, policy_version: POLICY_VERSION };

const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The body of the request that publishes what a form holds. */
export function toBody(kind: PublicationKind, values: Values): object {
  const fields = FORMS[kind].fields.map(({ name, list }) => {
    const value = values[name] ?? '';
    return [name, list ? toLines(value) : value] as const;
  });
  return { ...Object.fromEntries(fields), ...CONSENT };
}

/** Where a publication is sent; `caseId` is the case of a note. */
export function pathOf(kind: PublicationKind, caseId = ''): string {
  if (kind === 'profile') return '/api/v1/me/profile';
  return kind === 'case' ? '/api/v1/cases' : `/api/v1/cases/${caseId}/notes`;
}

/** The published profile of a member, as the form holds it; empty if there is none. */
export async function readProfile({ id, handle }: Session): Promise<Values> {
  // The browser would log a 404 for a member without a profile as an error.
  const listed = await call<{ agents: unknown[] }>('GET', `/api/v1/agents?handle=${handle}`);
  if (listed.kind !== 'ok' || listed.body.agents.length === 0) return {};
  const answer = await call<{ agent: { profile: Record<string, unknown> } }>(
    'GET',
    `/api/v1/agents/${id}`,
  );
  if (answer.kind !== 'ok') return {};
  const { profile } = answer.body.agent;
  return Object.fromEntries(
    FORMS.profile.fields.map(({ name, list }) => {
      const value = profile[name];
      return [name, list ? (value as string[]).join('\n') : String(value)];
    }),
  );
}

const LINK = /^#(profile|case|note-on=([0-9a-f-]{36}))$/;

/** The form that the address of the page asks for: a link of another page leads to it. */
export function linkedForm(): { kind: PublicationKind; caseId?: string } | undefined {
  const [, what, caseId] = LINK.exec(location.hash) ?? [];
  if (caseId) return { kind: 'case_note', caseId };
  return what === 'profile' || what === 'case' ? { kind: what } : undefined;
}
