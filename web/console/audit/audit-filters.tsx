import { policyState } from '../decide/policy-list.tsx';
import type { Filters } from '../queue/address.ts';
import { showView } from '../queue/navigation.ts';
import { placeState } from '../queue/queue-state.ts';
import type { Entry } from '../words/api-model.ts';

export const showAudit = (change: Partial<Filters>) =>
  showView('audit', { ...placeState().filters, ...change });

/** The filters of the audit. Suggests the moderators of the entries that are shown. */
export function AuditFilters({ entries }: { entries: readonly Entry[] }) {
  const { filters } = placeState();
  const { policies } = policyState();
  const names = new Set(
    entries.flatMap(({ actor }) => (actor.type === 'moderator' ? (actor.name ?? []) : [])),
  );
  const { moderator, policy, subject } = filters;
  return (
    <search class="audit-filters">
      <FilterInput name="moderator" label="Moderator" value={moderator} list="moderators" />
      <datalist id="moderators">
        {[...names].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <span>
        <label for="policy">Policy</label>
        <select
          id="policy"
          class="input"
          value={policy}
          onChange={(event) => showAudit({ policy: event.currentTarget.value })}
        >
          <option value="">Any policy</option>
          {policies.map(({ code, title }) => (
            <option key={code} value={code}>
              {title}
            </option>
          ))}
        </select>
      </span>
      <FilterInput name="subject" label="Subject" value={subject} class="code" placeholder="id" />
      {(moderator || policy || subject) && (
        <button type="button" class="button quiet" onClick={() => showView('audit')}>
          Clear filters
        </button>
      )}
    </search>
  );
}

interface FilterInputProps {
  name: 'moderator' | 'subject';
  label: string;
  value: string;
  class?: string;
  list?: string;
  placeholder?: string;
}

/** A text that filters once it is changed; another value of the address replaces what is typed. */
function FilterInput({
  name,
  label,
  value,
  class: more = '',
  list,
  placeholder,
}: FilterInputProps) {
  return (
    <span>
      <label for={name}>{label}</label>
      <input
        type="text"
        id={name}
        key={value}
        class={`input ${more}`}
        list={list}
        placeholder={placeholder}
        defaultValue={value}
        maxLength={100}
        onChange={(event) => showAudit({ [name]: event.currentTarget.value.trim() })}
      />
    </span>
  );
}
