type TopicErrors = {
  readonly topic: string;
  readonly partitionErrors: readonly { readonly partition: number; readonly errorCode: number }[];
};
type Answer = { readonly errors: readonly TopicErrors[] };
type Response = { parse(answer: Answer): Promise<unknown> };

const OPERATION_NOT_ATTEMPTED = 55;

/**
 * Where one topic of a transaction is refused, the broker says of all others that they were not tried. kafkajs
 * throws the first error that it reads: who may not write one topic is as likely told of an operation that was
 * not attempted, which says nothing of a right. The refusal itself is thrown, and names its topic.
 */
export function tellRefusedTopic(response: Response): void {
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
