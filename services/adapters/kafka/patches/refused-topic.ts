/**
 * Defect: Where a broker refuses one topic of a transaction, it answers OPERATION_NOT_ATTEMPTED for
 * all others. kafkajs throws the first error that it reads, which may be that one.
 * Upstream: not reported.
 * Patch: The refusal is thrown, with the name of its topic.
 */
type TopicErrors = {
  readonly topic: string;
  readonly partitionErrors: readonly { readonly partition: number; readonly errorCode: number }[];
};
type Answer = { readonly errors: readonly TopicErrors[] };
type Response = { parse(answer: Answer): Promise<unknown> };

const OPERATION_NOT_ATTEMPTED = 55;

export function throwRefusedTopic(response: Response): void {
  const { parse } = response;
  response.parse = async (answer) => {
    const refused = answer.errors.find(({ partitionErrors }) => partitionErrors.some(isRefusal));
    if (refused === undefined) return await parse(answer);
    const partitionErrors = refused.partitionErrors.filter(isRefusal);
    try {
      return await parse({ ...answer, errors: [{ ...refused, partitionErrors }] });
    } catch (error) {
      if (error instanceof Error) error.message = `${error.message} (${refused.topic})`;
      throw error;
    }
  };
}

function isRefusal({ errorCode }: TopicErrors["partitionErrors"][number]): boolean {
  return errorCode !== 0 && errorCode !== OPERATION_NOT_ATTEMPTED;
}
