import type { ViewOf } from '../../services/pages/site/view.ts';
import { SearchForm } from './search-form.tsx';

/** A text of this service that is HTML already. */
export function GuideText({ html }: ViewOf<'text'>) {
  return <article class="guide" dangerouslySetInnerHTML={{ __html: html }} />;
}

export function ErrorText({ status, title, text, requestId }: ViewOf<'error'>) {
  return (
    <>
      <p class="kind">{status}</p>
      <h1>{title}</h1>
      <p>{text}</p>
      {status >= 500 ? (
        <p class="hint">
          Request <code class="code">{requestId}</code>
        </p>
      ) : (
        <SearchForm />
      )}
      <p>
        <a href="/">Back to the guestbook</a>
      </p>
    </>
  );
}
