package floe.interop;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.Types;

/**
 * Answers requests read from the standard input, one JSON object a line: {"catalog": URI,
 * "namespace": name, "table": name}. The answer is one line: {"rows": [...]} with every row as an
 * object in the schema's order, or {"error": message}. Values without a JSON form are their text.
 */
public final class TableReader {
  private TableReader() {}

  public static void main(String[] arguments) throws Exception {
    ObjectMapper json = new ObjectMapper();
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Map<String, Object> answer = new LinkedHashMap<>();
      try {
        Map<?, ?> request = json.readValue(line, Map.class);
        answer.put(
            "rows",
            read(
                (String) request.get("catalog"),
                (String) request.get("namespace"),
                (String) request.get("table")));
      } catch (Exception | LinkageError error) {
        answer.clear();
        answer.put("error", String.valueOf(error));
      }
      out.println(json.writeValueAsString(answer));
    }
  }

  private static List<Object> read(String uri, String namespace, String name) throws Exception {
    try (RESTCatalog catalog = new RESTCatalog()) {
      catalog.initialize("floe", Map.of("uri", uri, "http-client.type", "urlconnection"));
      Table table = catalog.loadTable(TableIdentifier.of(Namespace.of(namespace), name));
      List<Object> rows = new ArrayList<>();
      try (CloseableIterable<Record> records = IcebergGenerics.read(table).build()) {
        for (Record record : records) {
          rows.add(plain(record));
        }
      }
      return rows;
    }
  }

  private static Object plain(Object value) {
    if (value instanceof Record record) {
      Map<String, Object> fields = new LinkedHashMap<>();
      for (Types.NestedField field : record.struct().fields()) {
        fields.put(field.name(), plain(record.getField(field.name())));
      }
      return fields;
    }
    if (value instanceof List<?> list) {
      List<Object> elements = new ArrayList<>();
      list.forEach(element -> elements.add(plain(element)));
      return elements;
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, Object> entries = new LinkedHashMap<>();
      map.forEach((key, entry) -> entries.put(String.valueOf(key), plain(entry)));
      return entries;
    }
    if (value instanceof ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.duplicate().get(copy);
      return Base64.getEncoder().encodeToString(copy);
    }
    if (value == null
        || value instanceof Boolean
        || value instanceof Number
        || value instanceof String) {
      return value;
    }
    return value.toString();
  }
}
