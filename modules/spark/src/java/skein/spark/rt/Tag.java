// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

/** The first byte of an encoded value: what follows. The format is for processes of one program, and not for storage. */
final class Tag {
    static final int NIL = 0;
    static final int TRUE = 1;
    static final int FALSE = 2;
    /** A zigzag number of one to ten bytes. */
    static final int LONG = 3;

    static final int DOUBLE = 4;
    /** A length and as many bytes, each a character below 128. */
    static final int ASCII = 5;
    /** A length and as many characters of two bytes: exact for lone surrogates, which UTF-8 can't hold. */
    static final int TEXT = 6;
    /** Namespace and name. Each keyword and symbol is written once, and gets the next number. */
    static final int KEYWORD = 7;

    static final int SYMBOL = 8;
    /** The number of a keyword or symbol that was written before. */
    static final int AGAIN = 9;

    static final int ARRAY_MAP = 10;
    static final int HASH_MAP = 11;
    /** A comparator, or nil for the default; a count; keys and values, ascending. */
    static final int SORTED_MAP = 12;

    static final int HASH_SET = 13;
    static final int SORTED_SET = 14;
    static final int VECTOR = 15;
    static final int ENTRY = 16;
    static final int LIST = 17;
    static final int QUEUE = 18;
    /** A map, the metadata, and the value that has it. */
    static final int META = 19;
    /** A symbol: the value of the var of this name. */
    static final int VALUE_OF = 20;
    /** A symbol, a count and arguments: what the var of this name returns for them. */
    static final int CALL = 21;
    /** A symbol: the var itself. */
    static final int VAR = 22;

    static final int INT = 23;
    static final int SHORT = 24;
    static final int BYTE = 25;
    static final int FLOAT = 26;
    static final int CHAR = 27;
    static final int BIG_INT = 28;
    static final int BIG_INTEGER = 29;
    static final int RATIO = 30;
    static final int BIG_DECIMAL = 31;
    static final int BYTES = 32;
    /** Primitive arrays: the array's type as its JVM letter, a count, the elements. */
    static final int PRIMITIVES = 33;

    static final int OBJECTS = 34;
    static final int CLASS = 35;
    static final int ENUM = 36;
    /** Collections of java.util that have a constructor without arguments: class, count, elements. */
    static final int COLLECTION = 37;

    static final int MAP = 38;
    /** Bytes of Java's own serialization, in which Clojure's values are encoded as here. */
    static final int JAVA = 39;
    /** An exception that can't be sent: class, message, printed data, stack, cause. */
    static final int BROKEN = 40;

    private Tag() {}
}
