import { EXPERIENCES, REPORT_REASONS } from '../../../domain/guestbook/words.ts';
import {
  AUTHOR_RECORDS,
  type AuthorRecord,
  SCRIPTS,
  type Script,
} from '../../../domain/moderation/words.ts';
import type { FindingCode } from '../../../domain/screening/rules.ts';
import { reasonName } from '../../shared/display-names.ts';
import { policyState } from '../decide/policy-list.tsx';
import type { Filters } from '../queue/address.ts';
import { currentList, placeState } from '../queue/queue-state.ts';
import { changeSetting, settingsState } from '../session/settings.ts';
import { toSentenceCase } from '../words/format.ts';
import { findingName, KIND_NAMES } from '../words/labels.ts';

/** Findings that a list can be filtered by. */
const FINDINGS = [
  'same_as_rejected',
  'like_rejected',
  'reads_like_rejected',
  'same_as_pending',
  'like_pending',
  'links',
  'many_links',
  'link_to_number',
  'link_look_alike',
  'link_with_credentials',
  'email',
  'phone',
  'markup',
  'profanity',
  'member_name',
  'mixed_scripts',
  'styled_letters',
  'direction',
  'invisible',
  'stacked_marks',
  'long_word',
  'repeated_characters',
  'repeated_words',
  'shouting',
] as const satisfies readonly FindingCode[];

const AGES = [
  ['', 'Any age'],
  ['3600', 'Over 1 h'],
  ['86400', 'Over 24 h'],
  ['259200', 'Over 72 h'],
] as const;

export function SearchSelects({ onChange }: { onChange: () => void }) {
  const { filters } = placeState();
  return (
    <>
      <label class="visually-hidden" for="finding">
        Finding
      </label>
      <select id="finding" name="finding" class="input" value={filters.finding} onChange={onChange}>
        <option value="">Any finding</option>
        {FINDINGS.map((code) => (
          <option key={code} value={code}>
            {findingName(code)}
          </option>
        ))}
      </select>
      <label class="visually-hidden" for="older">
        Age
      </label>
      <select
        id="older"
        name="older_than"
        class="input"
        value={filters.older_than}
        onChange={onChange}
      >
        {AGES.map(([seconds, words]) => (
          <option key={seconds} value={seconds}>
            {words}
          </option>
        ))}
      </select>
    </>
  );
}

const SCRIPT_NAMES: Readonly<Record<Script, string>> = {
  latin: 'Latin script',
  cyrillic: 'Cyrillic',
  greek: 'Greek',
  hebrew: 'Hebrew',
  arabic: 'Arabic',
  devanagari: 'Devanagari',
  thai: 'Thai',
  hangul: 'Korean',
  japanese: 'Japanese',
  han: 'Chinese',
};

const RECORD_NAMES: Readonly<Record<AuthorRecord, string>> = {
  guest: 'Guests',
  new: 'Members, none approved yet',
  clean: 'Members, none refused lately',
  mixed: 'Members with refused notes',
};

const GUESTBOOK_NAMES = {
  service: 'Service',
  observatory: 'Observatory',
  'two-clerks': 'Two Clerks',
} as const;

const FURTHER = [
  'experience',
  'reason',
  'type',
  'policy',
  'script',
  'author_record',
  'sort',
] as const;

type Options = readonly (readonly [value: string, name: string])[];

function switchCompact(on: boolean): void {
  changeSetting('compact', on);
  // The list measures its rows again once they are drawn.
  requestAnimationFrame(() => dispatchEvent(new Event('resize')));
}

/** The filters that are used less often, and the order; open while one of them is set. */
export function MoreFilters({ onChange }: { onChange: () => void }) {
  const { filters } = placeState();
  const { policies } = policyState();
  const { compact } = settingsState();
  const set = FURTHER.filter((name) => filters[name] !== '').length;
  const select = (name: keyof Filters, label: string, any: string, options: Options) => (
    <label class="filter">
      <span class="visually-hidden">{label}</span>
      <select name={name} class="input" value={filters[name]} onChange={onChange}>
        <option value="">{any}</option>
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <details class="more-filters" open={set > 0}>
      <summary>More filters{set > 0 && ` (${set})`}</summary>
      <div class="filters">
        {select(
          'experience',
          'Guestbook',
          'Any guestbook',
          EXPERIENCES.map((one) => [one, GUESTBOOK_NAMES[one]]),
        )}
        {select('type', 'Kind', 'Any kind', Object.entries(KIND_NAMES))}
        {select(
          'reason',
          'Reason of a report',
          'Any reason',
          REPORT_REASONS.map((one) => [one, toSentenceCase(reasonName(one))]),
        )}
        {select(
          'policy',
          'Policy',
          'Any policy',
          policies.map(({ code, title }) => [code, title]),
        )}
        {select(
          'script',
          'Language',
          'Any language',
          SCRIPTS.map((one) => [one, SCRIPT_NAMES[one]]),
        )}
        {select(
          'author_record',
          'Author',
          'Any author',
          AUTHOR_RECORDS.map((one) => [one, RECORD_NAMES[one]]),
        )}
        {currentList() !== 'decided' &&
          select('sort', 'Order', 'Oldest first', [['newest', 'Newest first']])}
        <label class="check">
          <input
            type="checkbox"
            checked={compact}
            onChange={(event) => switchCompact(event.currentTarget.checked)}
          />
          Compact rows
        </label>
      </div>
    </details>
  );
}
