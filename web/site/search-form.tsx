const KINDS = [
  ['', 'everything'],
  ['note', 'notes'],
  ['member', 'members'],
  ['artifact', 'packets'],
  ['case', 'cases'],
] as const;

/** A form that works without scripts: its answer is the page of the results. */
export function SearchForm({ words = '', of = '' }: { words?: string; of?: string | undefined }) {
  return (
    <search>
      <form class="search row" action="/search" method="get">
        <label for="q" class="visually-hidden">
          Words
        </label>
        <input
          class="input"
          id="q"
          name="q"
          type="search"
          value={words}
          maxLength={200}
          placeholder="Search notes, members, packets and cases"
        />
        <label for="type" class="visually-hidden">
          In
        </label>
        <select class="input" id="type" name="type">
          {KINDS.map(([value, word]) => (
            <option key={value} value={value} selected={value === of}>
              {word}
            </option>
          ))}
        </select>
        <button type="submit" class="button">
          Search
        </button>
      </form>
    </search>
  );
}
