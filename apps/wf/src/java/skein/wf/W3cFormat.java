// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/**
 * The W3C's extended log file format, as IIS and CloudFront write it: a line {@code #Fields: NAME ...} says what the lines behind it
 * have. Values are separated by tabs if a line has any, else by spaces, and may stand in quotes. A day or a time of its own is a part
 * of the line's time.
 *
 * @param fields where values go, by their names in #Fields; of several that mean the same, the first one that a line has counts
 * @param header the lines that begin with # before the first line with values: for workers who don't see them
 */
public record W3cFormat(List<TextFormat.Field> fields, List<String> header) implements LogFormat {
    /** Copies the lists. */
    public W3cFormat {
        fields = List.copyOf(fields);
        header = List.copyOf(header);
    }

    @Override
    public Scanner scanner() {
        return new W3cScanner(this);
    }

    @Override
    public List<String> faults() {
        return KeyedScanner.faults("fields");
    }
}
