/** The status and headers of an answer, beside its parsed body. */
export interface Answer<Data> {
  data: Data;
  status: number;
  headers: Headers;
}

/** A call that was sent. `await` gives the parsed body, and `withResponse()` the headers as well. */
export class Call<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #answer: Promise<Answer<Data>>;

  constructor(answer: Promise<Answer<Data>>) {
    this.#answer = answer;
  }

  /** Resolves to the body with status and headers, such as `ETag`, `RateLimit` or `Idempotency-Replayed`. */
  withResponse(): Promise<Answer<Data>> {
    return this.#answer;
  }

  // biome-ignore lint/suspicious/noThenProperty: a call is awaited like a promise
  then<Result = Data, Failure = never>(
    onData?: ((data: Data) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#answer.then(({ data }) => data).then(onData, onError);
  }

  catch<Failure = never>(
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Data | Failure> {
    return this.then(undefined, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Data> {
    return this.then().finally(onEnd);
  }
}

/**
 * A list. `for await` yields the items of all pages and reads each page when it is needed; `await`
 * gives the first page.
 */
export class Listing<Page, Item> implements PromiseLike<Page>, AsyncIterable<Item> {
  readonly #read: (next?: string) => Call<Page>;
  readonly #items: (page: Page) => readonly Item[];

  constructor(read: (next?: string) => Call<Page>, items: (page: Page) => readonly Item[]) {
    this.#read = read;
    this.#items = items;
  }

  /** Resolves to the first page with status and headers. */
  withResponse(): Promise<Answer<Page>> {
    return this.#read().withResponse();
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is awaited like a promise
  then<Result = Page, Failure = never>(
    onPage?: ((page: Page) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#read().then(onPage, onError);
  }

  /** Yields whole pages. */
  async *pages(): AsyncGenerator<Page, void, void> {
    let next: string | undefined;
    do {
      const { data, headers } = await this.#read(next).withResponse();
      yield data;
      next = /<(\/[^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    } while (next);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, void> {
    for await (const page of this.pages()) yield* this.#items(page);
  }
}
