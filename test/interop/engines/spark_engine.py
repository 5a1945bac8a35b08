"""Spark SQL over the Iceberg REST catalog behind the line protocol of python_engines.py."""

import json
import os
import sys


def session(catalog_uri: str):
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[1]")
        .config("spark.jars", os.environ["SPARK_JARS"])
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.extensions",
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.sql.catalog.floe", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.floe.type", "rest")
        .config("spark.sql.catalog.floe.uri", catalog_uri)
        .config("spark.sql.catalog.floe.cache-enabled", "false")
        .getOrCreate()
    )


def main() -> None:
    # The answer's stream is kept apart from what Spark prints.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    spark = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            spark = spark or session(request["catalog"])
            name = f"floe.`{request['namespace']}`.`{request['table']}`"
            query = request.get("query", "SELECT * FROM {table}").format(table=name)
            rows = [row.asDict(recursive=True) for row in spark.sql(query).collect()]
            answer = {"rows": rows}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        out.write(json.dumps(answer, default=str) + "\n")
        out.flush()
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    main()
