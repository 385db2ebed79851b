// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/**
 * A format of one JSON object a line. A field's name is the path of its key, with dots between: {@code request.uri}.
 *
 * @param fields where values go; of several that mean the same, the first one that a line has counts
 * @param own how many of the first fields make a line one of the log even if it names neither URL, method nor status
 */
public record JsonFormat(List<TextFormat.Field> fields, int own) implements LogFormat {
    /** Copies the list. */
    public JsonFormat {
        fields = List.copyOf(fields);
    }

    @Override
    public Scanner scanner() {
        return new JsonScanner(this);
    }

    @Override
    public List<String> faults() {
        return KeyedScanner.faults("json");
    }
}
